use std::{collections::BTreeMap, sync::Arc, time::Duration};

use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{Patch, PatchParams},
    runtime::{
        controller::Action,
        events::{Event, EventType, Recorder},
        finalizer::{Event as Finalizer, finalizer},
        reflector::Store,
    },
};
use serde_json::json;

use crate::lantern::Lantern;

pub const MANAGER: &str = "lantern-controller";
const FINALIZER: &str = "peers.example.com/extinguish";

pub struct Context {
    pub client: Client,
    pub events: Recorder,
    pub known: Store<Lantern>,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Finalizer(#[from] Box<kube::runtime::finalizer::Error<kube::Error>>),
}

pub async fn reconcile(lantern: Arc<Lantern>, context: Arc<Context>) -> Result<Action, Error> {
    let api = Api::namespaced(context.client.clone(), &lantern.namespace().unwrap_or_default());
    finalizer(&api, FINALIZER, lantern, |event| async {
        match event {
            Finalizer::Apply(lantern) => light(&api, &lantern, &context).await,
            Finalizer::Cleanup(lantern) => extinguish(&lantern, &context).await,
        }
    })
    .await
    .map_err(|error| Box::new(error).into())
}

async fn light(api: &Api<Lantern>, lantern: &Lantern, context: &Context) -> Result<Action, kube::Error> {
    let name = format!("{}-settings", lantern.name_any());
    let settings = ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.clone()),
            owner_references: lantern.controller_owner_ref(&()).map(|owner| vec![owner]),
            ..ObjectMeta::default()
        },
        data: Some(BTreeMap::from([
            ("lumen".into(), lantern.spec.lumen.to_string()),
            ("lit".into(), context.known.len().to_string()),
        ])),
        ..ConfigMap::default()
    };
    let parameters = PatchParams::apply(MANAGER).force();
    config_maps(lantern, context).patch(&name, &parameters, &Patch::Apply(&settings)).await?;
    let status = json!({ "status": { "observedGeneration": lantern.metadata.generation, "settings": name } });
    api.patch_status(&lantern.name_any(), &PatchParams::default(), &Patch::Merge(&status)).await?;
    let event = Event {
        type_: EventType::Normal,
        reason: "Lit".into(),
        note: Some(format!("burns with {} lumen", lantern.spec.lumen)),
        action: "Light".into(),
        secondary: None,
    };
    context.events.publish(&event, &lantern.object_ref(&())).await?;
    Ok(Action::requeue(Duration::from_secs(300)))
}

async fn extinguish(lantern: &Lantern, context: &Context) -> Result<Action, kube::Error> {
    let name = format!("{}-ashes", lantern.name_any());
    let ashes = ConfigMap {
        metadata: ObjectMeta { name: Some(name.clone()), ..ObjectMeta::default() },
        ..ConfigMap::default()
    };
    config_maps(lantern, context).patch(&name, &PatchParams::apply(MANAGER), &Patch::Apply(&ashes)).await?;
    Ok(Action::await_change())
}

fn config_maps(lantern: &Lantern, context: &Context) -> Api<ConfigMap> {
    Api::namespaced(context.client.clone(), &lantern.namespace().unwrap_or_default())
}

pub fn retry(_: Arc<Lantern>, error: &Error, _: Arc<Context>) -> Action {
    eprintln!("will try again: {error}");
    Action::requeue(Duration::from_secs(1))
}
