//! Logs, a command and a port of a pod, printed as one line of JSON.
use futures::{AsyncBufReadExt, TryStreamExt};
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api, Client,
    api::{AttachParams, LogParams},
};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

pub async fn streams(client: Client, namespace: &str, pod: &str) -> anyhow::Result<()> {
    let pods: Api<Pod> = Api::namespaced(client, namespace);
    let follow = LogParams { follow: true, ..LogParams::default() };
    let mut lines = pods.log_stream(pod, &follow).await?.lines();
    let logged = [lines.try_next().await?, lines.try_next().await?];

    let attach = AttachParams::default().stdin(true).stdout(true).stderr(true);
    let mut process = pods.exec(pod, ["cat", "-n"], &attach).await?;
    let status = process.take_status().expect("a status is to come");
    let mut stdin = process.stdin().expect("stdin was asked for");
    let mut stdout = process.stdout().expect("stdout was asked for");
    let mut stderr = process.stderr().expect("stderr was asked for");
    stdin.write_all(b"ping").await?;
    let mut answer = [0; 4];
    stdout.read_exact(&mut answer).await?;
    let mut complaint = [0; 6];
    stderr.read_exact(&mut complaint).await?;
    stdin.shutdown().await?;
    let ended = status.await.expect("a status has come");
    let code = ended.details.and_then(|details| details.causes).and_then(|causes| causes[0].message.clone());

    let mut forwarder = pods.portforward(pod, &[7]).await?;
    let mut port = forwarder.take_stream(7).expect("port 7 was asked for");
    port.write_all(b"hello").await?;
    let mut forwarded = [0; 5];
    port.read_exact(&mut forwarded).await?;
    let result = json!({
        "logged": logged,
        "executed": [String::from_utf8_lossy(&answer), String::from_utf8_lossy(&complaint)],
        "code": code,
        "forwarded": String::from_utf8_lossy(&forwarded),
    });
    println!("{result}");
    Ok(())
}
