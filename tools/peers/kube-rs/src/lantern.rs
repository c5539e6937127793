use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[kube(group = "peers.example.com", version = "v1", kind = "Lantern", namespaced, status = "LanternStatus")]
#[kube(shortname = "lan", printcolumn = r#"{"name":"Lumen","type":"integer","jsonPath":".spec.lumen"}"#)]
#[serde(rename_all = "camelCase")]
pub struct LanternSpec {
    #[schemars(range(min = 1, max = 1000))]
    pub lumen: u32,
    pub owner: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LanternStatus {
    pub observed_generation: Option<i64>,
    pub settings: Option<String>,
}
