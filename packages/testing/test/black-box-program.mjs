// A program that reaches the API server by $KUBECONFIG, or as in a pod, over HTTP/1.1. For each ConfigMap with the label `parent` it creates
// two more. With the argument `faulty` it takes the first one for a sign that both exist.
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { createInterface } from "node:readline";

const ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";
const { KUBECONFIG, KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT } = process.env;

function byKubeconfig() {
  const kubeconfig = readFileSync(KUBECONFIG, "utf8");
  const field = (name) => new RegExp(`"?${name}"?: *"?([^\\s",]+)`).exec(kubeconfig)[1];
  const decoded = (name) => Buffer.from(field(name), "base64");
  const [ca, cert, key] = ["certificate-authority-data", "client-certificate-data", "client-key-data"].map(decoded);
  return { server: field("server"), tls: { ca, cert, key }, credentials: {} };
}

function asInPod() {
  const file = (name) => readFileSync(`${ACCOUNT}/${name}`, "utf8");
  const server = `https://${KUBERNETES_SERVICE_HOST}:${KUBERNETES_SERVICE_PORT}`;
  return { server, tls: { ca: file("ca.crt") }, credentials: { authorization: `Bearer ${file("token")}` } };
}

const { server, tls, credentials } = KUBECONFIG ? byKubeconfig() : asInPod();
const agent = new Agent({ keepAlive: true, ...tls });
const url = `${server}/api/v1/namespaces/default/configmaps`;
const isFaulty = process.argv.includes("faulty");

const send = (method, path, body) =>
  new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", ...credentials };
    const sent = request(`${url}${path}`, { method, agent, headers }, resolve).on("error", reject);
    sent.end(body && JSON.stringify(body));
  });

async function create(name) {
  const response = await send("POST", "", { apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
  response.resume();
  if (response.statusCode !== 201 && response.statusCode !== 409) throw new Error(`${response.statusCode}`);
  return response.statusCode === 201;
}

async function reconcile(name) {
  const isNew = await create(`${name}-first`);
  if (isNew || !isFaulty) await create(`${name}-second`);
}

const watch = await send("GET", "?watch=true&labelSelector=parent");
for await (const line of createInterface({ input: watch })) {
  const { type, object } = JSON.parse(line);
  if (type === "ADDED") await reconcile(object.metadata.name);
}
