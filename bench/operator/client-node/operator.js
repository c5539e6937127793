// The operator of bench/operator/workload.ts on the official JavaScript client, which has informers and no controller: the queue, the
// ten workers and the retries are written by hand, as its users do.
import { isDeepStrictEqual } from "node:util";
import { CoreV1Api, CustomObjectsApi, KubeConfig, makeInformer } from "@kubernetes/client-node";
import { Queue } from "./queue.js";

const [mode, count] = process.argv.slice(2);
const config = new KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(CoreV1Api);
const custom = config.makeApiClient(CustomObjectsApi);
const kind = { group: "bench.konverge.dev", version: "v1", plural: "widgets" };

const widgets = makeInformer(config, "/apis/bench.konverge.dev/v1/widgets", () => custom.listClusterCustomObject(kind));
const children = makeInformer(config, "/api/v1/configmaps", () => core.listConfigMapForAllNamespaces());
for (const informer of [widgets, children]) {
  informer.on("error", (error) => {
    console.error(error);
    setTimeout(() => informer.start(), 1000);
  });
}
process.once("SIGTERM", () => process.exit(0));

if (mode === "cache") {
  let cached = 0;
  children.on("add", () => {
    cached++;
  });
  await children.start();
  if (cached < Number(count)) throw new Error(`there are only ${cached} objects`);
  console.log("cached");
} else {
  const queue = new Queue(reconcile);
  // Children are complete before the first Widget is known, so nothing is created that only seems to be missing.
  await children.start();
  widgets.on("change", ({ metadata }) => queue.add(`${metadata.namespace}/${metadata.name}`));
  children.on("change", ({ metadata }) => {
    const owner = metadata.ownerReferences?.find(({ controller }) => controller);
    if (owner?.kind === "Widget") queue.add(`${metadata.namespace}/${owner.name}`);
  });
  await widgets.start();
}

function statusOf({ metadata: { name, generation }, spec: { value }, status: earlier }) {
  const condition = (type, status) => {
    const found = earlier?.conditions?.find((one) => one.type === type && one.status === status);
    const lastTransitionTime = found?.lastTransitionTime ?? `${new Date().toISOString().slice(0, 19)}Z`;
    return { type, status, reason: "AsExpected", message: "", observedGeneration: generation, lastTransitionTime };
  };
  const conditions = [condition("Ready", "True"), condition("Progressing", "False"), condition("Degraded", "False")];
  return { value, child: name, observedGeneration: generation, conditions };
}

async function reconcile(key) {
  const [namespace, name] = key.split("/");
  const widget = widgets.get(name, namespace);
  if (!widget) return;
  const { value } = widget.spec;
  const { apiVersion, kind: ownerKind, metadata } = widget;
  const owner = { apiVersion, kind: ownerKind, name, uid: metadata.uid, controller: true, blockOwnerDeletion: true };
  const child = { metadata: { name, namespace, ownerReferences: [owner] }, data: { value } };
  const cached = children.get(name, namespace);
  if (!cached) await core.createNamespacedConfigMap({ namespace, body: child });
  else if (cached.data?.value !== value || cached.metadata.ownerReferences?.[0]?.uid !== metadata.uid)
    await core.replaceNamespacedConfigMap({ name, namespace, body: child });
  const status = statusOf(widget);
  if (isDeepStrictEqual(widget.status, status)) return;
  const body = { ...widget, status };
  await custom.replaceNamespacedCustomObjectStatus({ ...kind, namespace, name, body });
}
