//! The operator of bench/operator/workload.ts on kube-rs. The children are cached by a reflector, without managed fields, so a
//! child that is as desired costs no request; what differs is written with server-side apply.
mod widget;

use std::{collections::BTreeMap, env, sync::Arc, time::Duration};

use futures::{Stream, StreamExt, TryStreamExt, channel::mpsc, future::ready};
use k8s_openapi::{
    api::core::v1::ConfigMap,
    apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta, Time},
    jiff::Timestamp,
};
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{Patch, PatchParams},
    runtime::{
        Controller, WatchStreamExt,
        controller::{Action, Config},
        reflector::{self, ObjectRef, Store},
        watcher,
    },
};
use serde_json::json;

use widget::{Widget, WidgetStatus};

const MANAGER: &str = "widgets";

struct Context {
    client: Client,
    children: Store<ConfigMap>,
}

fn condition(widget: &Widget, kind: &str, value: &str) -> Condition {
    let earlier = widget.status.iter().flat_map(|status| &status.conditions);
    let same = earlier.into_iter().find(|one| one.type_ == kind && one.status == value);
    Condition {
        type_: kind.into(),
        status: value.into(),
        reason: "AsExpected".into(),
        message: String::new(),
        observed_generation: widget.metadata.generation,
        last_transition_time: same.map_or_else(|| Time(Timestamp::now()), |one| one.last_transition_time.clone()),
    }
}

async fn reconcile(widget: Arc<Widget>, context: Arc<Context>) -> Result<Action, kube::Error> {
    let (name, namespace) = (widget.name_any(), widget.namespace().unwrap_or_default());
    let apply = PatchParams::apply(MANAGER).force();
    let child = ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.clone()),
            owner_references: widget.controller_owner_ref(&()).map(|owner| vec![owner]),
            ..ObjectMeta::default()
        },
        data: Some(BTreeMap::from([("value".into(), widget.spec.value.clone())])),
        ..ConfigMap::default()
    };
    let cached = context.children.get(&ObjectRef::new(&name).within(&namespace));
    let as_desired = cached.is_some_and(|cached| {
        cached.data == child.data && cached.metadata.owner_references == child.metadata.owner_references
    });
    if !as_desired {
        let api: Api<ConfigMap> = Api::namespaced(context.client.clone(), &namespace);
        api.patch(&name, &apply, &Patch::Apply(&child)).await?;
    }
    let status = WidgetStatus {
        value: Some(widget.spec.value.clone()),
        child: Some(name.clone()),
        observed_generation: widget.metadata.generation,
        conditions: [("Ready", "True"), ("Progressing", "False"), ("Degraded", "False")]
            .map(|(kind, value)| condition(&widget, kind, value))
            .into(),
    };
    if widget.status.as_ref() != Some(&status) {
        let api: Api<Widget> = Api::namespaced(context.client.clone(), &namespace);
        let patch = json!({ "apiVersion": "bench.konverge.dev/v1", "kind": "Widget", "status": status });
        api.patch_status(&name, &apply, &Patch::Apply(&patch)).await?;
    }
    Ok(Action::await_change())
}

fn retry(_: Arc<Widget>, error: &kube::Error, _: Arc<Context>) -> Action {
    eprintln!("retrying: {error}");
    Action::requeue(Duration::from_secs(1))
}

/// All ConfigMaps, cached as they arrive.
fn config_maps(client: &Client) -> (Store<ConfigMap>, impl Stream<Item = watcher::Result<ConfigMap>> + Send + 'static) {
    let (store, writer) = reflector::store();
    let stream = watcher(Api::<ConfigMap>::all(client.clone()), watcher::Config::default())
        .default_backoff()
        .modify(|object| object.managed_fields_mut().clear())
        .reflect(writer)
        .touched_objects();
    (store, stream)
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let client = Client::try_default().await?;
    let (children, stream) = config_maps(&client);
    // The cache is filled by a task of its own: a reconcile must not start before it is complete. Only what has an owner
    // can cause one, so nothing else is queued.
    let (sender, changes) = mpsc::unbounded();
    let owned = stream.try_filter(|object| ready(object.metadata.owner_references.is_some()));
    tokio::spawn(owned.map(Ok).forward(sender));
    children.wait_until_ready().await?;
    if env::args().nth(1).as_deref() == Some("cache") {
        let count: usize = env::args().nth(2).unwrap_or_default().parse()?;
        anyhow::ensure!(children.len() >= count, "there are only {} objects", children.len());
        println!("cached");
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?.recv().await;
        return Ok(());
    }
    Controller::new(Api::<Widget>::all(client.clone()), watcher::Config::default())
        .owns_stream(changes)
        .with_config(Config::default().concurrency(10))
        .shutdown_on_signal()
        .run(reconcile, retry, Arc::new(Context { client, children }))
        .for_each(|_| async {})
        .await;
    Ok(())
}
