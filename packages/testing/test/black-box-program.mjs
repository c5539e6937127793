// A program that reaches the API server by $KUBECONFIG, or as in a pod, over HTTP/1.1. For each ConfigMap with the label `parent` it creates
// two more. With the argument `faulty` it takes the first one for a sign that both exist; with `random` their names have random
// parts; with `alternating FILE` each second process that reads the file creates one more.
import { randomUUID } from "node:crypto";
import { appendFileSync, readFileSync } from "node:fs";
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

async function create(name, labels) {
  const response = await send("POST", "", { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels } });
  response.resume();
  if (response.statusCode !== 201 && response.statusCode !== 409) throw new Error(`${response.statusCode}`);
  return response.statusCode === 201;
}

async function childrenOf(name) {
  const chunks = await (await send("GET", `?labelSelector=child%3D${name}`)).toArray();
  return JSON.parse(Buffer.concat(chunks).toString()).items.length;
}

async function reconcile(name) {
  if (process.argv.includes("random")) {
    for (let there = await childrenOf(name); there < 2; there++)
      await create(`${name}-${randomUUID().replaceAll("-", "").slice(0, 10)}`, { child: name });
    return;
  }
  const file = process.argv[process.argv.indexOf("alternating") + 1];
  if (process.argv.includes("alternating")) {
    appendFileSync(file, "x");
    if (readFileSync(file).length % 2 === 1) await create(`${name}-extra`);
  }
  const isNew = await create(`${name}-first`);
  if (isNew || !isFaulty) await create(`${name}-second`);
}

const watch = await send("GET", "?watch=true&labelSelector=parent");
for await (const line of createInterface({ input: watch })) {
  const { type, object } = JSON.parse(line);
  if (type === "ADDED") await reconcile(object.metadata.name);
}
