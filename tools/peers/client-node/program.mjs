// A program as people write it with @kubernetes/client-node. Prints what it found as one line of JSON.
//     node program.mjs objects|streams NAMESPACE
import { connect, createServer } from "node:net";
import { PassThrough } from "node:stream";
import {
  ApiException,
  AppsV1Api,
  CoreV1Api,
  Exec,
  KubeConfig,
  KubernetesObjectApi,
  Log,
  loadAllYaml,
  makeInformer,
  PatchStrategy,
  PortForward,
  setHeaderOptions,
  VersionApi,
  Watch,
} from "@kubernetes/client-node";

const [, , part, namespace] = process.argv;
const config = new KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(CoreV1Api);

const yaml = `
apiVersion: v1
kind: ConfigMap
metadata: { name: first, labels: { set: yaml } }
data: { key: value }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: main, image: web }] }
`;

console.log(JSON.stringify(await (part === "objects" ? objects() : streams())));
process.exit(0);

async function objects() {
  const { gitVersion } = await config.makeApiClient(VersionApi).getCode();
  const observed = [];
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const informer = makeInformer(
    config,
    path,
    () => core.listNamespacedConfigMap({ namespace, labelSelector: "set" }),
    "set",
  );
  for (const verb of ["add", "update", "delete"]) {
    informer.on(verb, ({ metadata, data }) => observed.push(`${verb} ${metadata.name} ${data?.key ?? "-"}`));
  }
  await informer.start();

  const any = KubernetesObjectApi.makeApiClient(config);
  for (const object of loadAllYaml(yaml)) {
    object.metadata.namespace = namespace;
    await any.create(object);
  }
  const header = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "first", namespace } };
  await any.patch(
    { ...header, data: { key: "merged" } },
    undefined,
    undefined,
    undefined,
    undefined,
    PatchStrategy.MergePatch,
  );
  await any.patch(
    { ...header, metadata: { ...header.metadata, labels: { set: "applied" } }, data: { applied: "yes" } },
    undefined,
    undefined,
    "client-node-apply",
    true,
    PatchStrategy.ServerSideApply,
  );
  await core.patchNamespacedConfigMap(
    { name: "first", namespace, body: [{ op: "replace", path: "/data/key", value: "patched" }] },
    setHeaderOptions("Content-Type", PatchStrategy.JsonPatch),
  );
  const replaced = await any.read(header);
  replaced.data.key = "replaced";
  await any.replace(replaced);
  const stale = await any
    .replace(replaced)
    .catch((error) => [error instanceof ApiException, error.code, JSON.parse(error.body).reason]);

  const apps = config.makeApiClient(AppsV1Api);
  await eventually(
    async () => (await apps.readNamespacedDeployment({ name: "web", namespace })).status?.readyReplicas === 2,
  );
  const pods = await core.listNamespacedPod({ namespace, labelSelector: "app=web", limit: 1 });
  const rest = await core.listNamespacedPod({
    namespace,
    labelSelector: "app=web",
    limit: 1,
    _continue: pods.metadata._continue,
  });

  const watched = await new Promise((resolve, reject) => {
    const phases = [];
    new Watch(config).watch(
      path,
      { resourceVersion: replaced.metadata.resourceVersion, fieldSelector: "metadata.name=first" },
      (phase, object) => {
        phases.push(`${phase} ${object.data.key}`);
        if (phase === "DELETED") resolve(phases);
      },
      (error) => reject(error ?? new Error("the watch ended")),
    );
    any.delete(header).catch(reject);
  });
  await eventually(() => observed.some((line) => line.startsWith("delete")));
  await informer.stop();
  const missing = await any.read(header).catch((error) => [error.code, JSON.parse(error.body).message]);
  return {
    version: gitVersion.split(".").slice(0, 2).join("."),
    stale,
    pages: [pods.items.length, rest.items.length, rest.metadata._continue ?? ""],
    watched,
    // Changes in quick succession may reach an informer as fewer.
    observed: [observed[0], observed.at(-1)],
    missing,
  };
}

async function streams() {
  await core.createNamespacedPod({
    namespace,
    body: { metadata: { name: "echo" }, spec: { containers: [{ name: "main", image: "echo:1" }] } },
  });
  await eventually(async () => (await core.readNamespacedPod({ name: "echo", namespace })).status?.phase === "Running");

  const log = new PassThrough();
  await new Log(config).log(namespace, "echo", "main", log, { follow: true });
  const logged = await textUntil(log, "world");

  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const status = new Promise((resolve) => {
    new Exec(config).exec(namespace, "echo", "main", ["cat", "-n"], stdout, stderr, stdin, false, resolve);
  });
  const [answered, complained] = [textUntil(stdout, "ping"), textUntil(stderr, "-n")];
  stdin.write("ping");
  const executed = [await answered, await complained];
  stdin.end();
  const { status: result, details } = await status;
  executed.push(result, details?.causes?.[0]?.message);

  const forward = new PortForward(config);
  const server = createServer((socket) => forward.portForward(namespace, "echo", [7], socket, null, socket));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const socket = connect(server.address().port, "127.0.0.1");
  socket.write("hello");
  const forwarded = await textUntil(socket, "HELLO");
  return { logged, executed, forwarded };
}

async function eventually(holds) {
  for (let tries = 0; tries < 600; tries++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`never true: ${holds}`);
}

function textUntil(stream, end) {
  return new Promise((resolve, reject) => {
    let text = "";
    stream.on("error", reject);
    stream.on("data", (chunk) => {
      text += chunk;
      if (text.includes(end)) resolve(text);
    });
  });
}
