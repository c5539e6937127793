//! An operator as people write it with kube-rs: a derived kind that it installs itself, a Controller with owned objects,
//! a reflector fed by a streaming list, server-side apply, the finalizer helper, status and events.
//!
//!     operator NAMESPACE        runs the operator
//!     operator NAMESPACE POD    talks to a pod
mod lantern;
mod reconcile;
mod streams;

use std::{env, sync::Arc, time::Duration};

use futures::StreamExt;
use k8s_openapi::{
    api::core::v1::ConfigMap, apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client, CustomResourceExt,
    api::{Patch, PatchParams},
    runtime::{
        Controller, WatchStreamExt,
        events::{Recorder, Reporter},
        reflector,
        wait::{await_condition, conditions},
        watcher,
    },
};

use lantern::Lantern;
use reconcile::{Context, MANAGER, reconcile, retry};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let namespace = env::args().nth(1).unwrap_or_else(|| "default".into());
    let client = Client::try_default().await?;
    if let Some(pod) = env::args().nth(2) {
        return streams::streams(client, &namespace, &pod).await;
    }
    install(&client).await?;

    let lanterns: Api<Lantern> = Api::namespaced(client.clone(), &namespace);
    let (known, writer) = reflector::store();
    let streaming = watcher::Config::default().streaming_lists().labels("lit=true");
    let reflected = reflector(writer, watcher(lanterns.clone(), streaming)).default_backoff().touched_objects();
    tokio::spawn(reflected.for_each(|seen| async move {
        if let Err(error) = seen {
            eprintln!("reflector: {error}");
        }
    }));
    known.wait_until_ready().await?;
    println!("reflecting {} lanterns", known.len());

    let context = Arc::new(Context {
        known,
        events: Recorder::new(client.clone(), Reporter { controller: MANAGER.into(), instance: None }),
        client: client.clone(),
    });
    let settings: Api<ConfigMap> = Api::namespaced(client, &namespace);
    Controller::new(lanterns, watcher::Config::default())
        .owns(settings, watcher::Config::default())
        .shutdown_on_signal()
        .run(reconcile, retry, context)
        .for_each(|result| async move {
            match result {
                Ok((object, _)) => println!("reconciled {}", object.name),
                Err(error) => eprintln!("reconcile: {error}"),
            }
        })
        .await;
    println!("stopped");
    Ok(())
}

async fn install(client: &Client) -> anyhow::Result<()> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let parameters = PatchParams::apply(MANAGER).force();
    definitions.patch(Lantern::crd_name(), &parameters, &Patch::Apply(Lantern::crd())).await?;
    let established = await_condition(definitions, Lantern::crd_name(), conditions::is_crd_established());
    tokio::time::timeout(Duration::from_secs(60), established).await??;
    Ok(())
}
