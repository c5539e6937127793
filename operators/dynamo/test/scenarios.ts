import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import {
  DynamoComponent,
  DynamoComponentDeployment,
  DynamoGraphDeployment,
  dynamoOperator,
  LeaderWorkerSet,
} from "@konverge/dynamo-operator";
import {
  allowPrivileged,
  attachVolumes,
  installForeignKind,
  type Scenario,
  supplyVolumes,
  type TestEnvironment,
} from "@konverge/operator-suite";
import {
  Deployment,
  HorizontalPodAutoscaler,
  Ingress,
  Job,
  PersistentVolumeClaim,
  Pod,
  ReplicaSet,
  Service,
} from "konverge/kinds";
import { gpuProductsIn } from "konverge/pods";

export const sample = (name: string) => readFileSync(new URL(`../samples/${name}.yaml`, import.meta.url), "utf8");

const state = async (stage: TestEnvironment, name: string) =>
  (await stage.find(DynamoGraphDeployment, name))?.status?.state;
export const successful = (stage: TestEnvironment, name: string) =>
  stage.until(`${name} is successful`, async () => (await state(stage, name)) === "successful");

/** Services become components, these become Deployments with Services, Ingress and claim; variables are merged. */
export const graph: Scenario = async (stage) => {
  await supplyVolumes(stage, "20Gi");
  await stage.start(dynamoOperator, { settings: { natsAddr: "nats:4222", etcdAddr: "http://etcd.infra:2379" } });
  await stage.apply(sample("graph"));
  await successful(stage, "chat");

  const components = (await stage.list(DynamoComponentDeployment)).map(({ metadata }) => metadata.name).sort();
  assert.deepEqual(components, ["chat-frontend", "chat-vllmworker"]);
  const worker = await stage.get(Deployment, "chat-vllmworker");
  const main = worker.spec!.template.spec!.containers[0]!;
  const env = Object.fromEntries(main.env!.map(({ name, value }) => [name, value]));
  assert.equal(main.name, "main");
  assert.equal(env["LOG_FORMAT"], "text");
  assert.equal(env["DYN_NAMESPACE"], "chat");
  assert.equal(env["NATS_SERVER"], "nats.dynamo:4222");
  assert.equal(env["ETCD_ENDPOINTS"], "http://etcd.infra:2379");
  assert.deepEqual(main.resources, { limits: { "nvidia.com/gpu": "1" } });
  assert.ok(main.volumeMounts!.some(({ mountPath }) => mountPath === "/models"));
  assert.equal(worker.metadata.labels?.["nvidia.com/dynamo-component-type"], "worker");
  const frontend = await stage.get(Deployment, "chat-frontend");
  const shared = frontend.spec!.template.spec!.containers[0]!.env!.find(({ name }) => name === "LOG_FORMAT");
  assert.equal(shared?.value, "json");

  const claim = await stage.get(PersistentVolumeClaim, "chat-models");
  assert.equal(claim.spec?.resources?.requests?.["storage"], "20Gi");
  assert.equal((await stage.get(Ingress, "chat-frontend")).spec?.rules?.[0]?.host, "chat.example.com");
  assert.equal((await stage.get(Service, "chat-frontend")).spec?.ports?.[0]?.port, 8000);

  const { status, spec } = await stage.get(DynamoGraphDeployment, "chat");
  assert.equal(await stage.condition(DynamoGraphDeployment, "chat", "Ready"), "True all_resources_are_ready");
  assert.deepEqual(status?.services?.["VllmWorker"], {
    componentName: "chat-vllmworker",
    componentKind: "Deployment",
    replicas: 2,
    readyReplicas: 2,
    updatedReplicas: 2,
    ready: true,
  });
  // What somebody keeps in Git is never changed.
  assert.deepEqual(Object.keys(spec.services!["Frontend"]!).sort(), ["ingress", "replicas"]);
  await stage.settled();
};

/** A claim that pods use goes only with the last of them: it is not made anew before. */
export const isClaim = ({ kind }: { kind: string }) => kind === "PersistentVolumeClaim";

/** Repair, update, pruning, deletion. */
export const lives: Scenario = async (stage) => {
  await supplyVolumes(stage, "20Gi");
  await stage.start(dynamoOperator);
  await stage.apply(sample("graph"));
  await successful(stage, "chat");
  await stage.client.delete(DynamoComponentDeployment, `${stage.namespace}/chat-frontend`);
  await stage.until(
    "the component is back",
    async () => (await stage.find(DynamoComponentDeployment, "chat-frontend")) !== undefined,
  );
  await stage.client.patch(Deployment, `${stage.namespace}/chat-vllmworker`, { merge: { spec: { replicas: 9 } } });
  await stage.until(
    "the replicas are as asked",
    async () => (await stage.get(Deployment, "chat-vllmworker")).spec?.replicas === 2,
  );

  await stage.client.patch(DynamoGraphDeployment, `${stage.namespace}/chat`, {
    merge: { spec: { services: { VllmWorker: { replicas: 3 }, Planner: { replicas: 1 } } } },
  });
  await stage.until(
    "the new service is there",
    async () => (await stage.find(Deployment, "chat-planner")) !== undefined,
  );
  await successful(stage, "chat");
  await stage.client.patch(DynamoGraphDeployment, `${stage.namespace}/chat`, {
    json: [{ op: "remove", path: "/spec/services/Planner" }],
  });
  await stage.until("the service is gone", async () => (await stage.find(Deployment, "chat-planner")) === undefined);
  await stage.client.delete(DynamoGraphDeployment, `${stage.namespace}/chat`);
  await stage.until("nothing is left", async () => {
    const left = [
      ...(await stage.list(DynamoComponentDeployment)),
      ...(await stage.list(Deployment)),
      ...(await stage.list(PersistentVolumeClaim)),
    ];
    return left.length === 0;
  });
};

/** The first document's form: a model, a promise, a placement. Both versions tell the same. */
export const model: Scenario = async (stage) => {
  await stage.start(dynamoOperator);
  await stage.apply(sample("model"));
  await successful(stage, "summary");
  const v1 = await stage.client.get(DynamoGraphDeployment.atVersion("v1"), `${stage.namespace}/summary`);
  assert.deepEqual(v1.spec.sla, { max_latency_ms: 150, min_throughput: 400 });
  const stored = await stage.get(DynamoGraphDeployment, "summary");
  assert.deepEqual(stored.spec.sla, { maxLatencyMs: 150, minThroughput: 400 });
  assert.equal(stored.spec.model?.placement?.gpuType, "H100");
  const worker = await stage.get(Deployment, "summary-vllmworker");
  const pod = worker.spec!.template.spec!;
  assert.deepEqual(pod.containers[0]!.args, ["--model", "summary-8b", "--tensor-parallel-size", "2"]);
  assert.deepEqual(gpuProductsIn(pod.affinity), ["NVIDIA-H100-80GB-HBM3"]);
  assert.deepEqual(pod.containers[0]!.resources?.limits, { "nvidia.com/gpu": "2" });
  assert.equal(worker.spec!.replicas, stored.status?.sizing?.replicas);
  assert.ok(
    stored.status!.sizing!.replicas >= 3,
    "400 requests per second at 50 ms each keep more than two replicas busy",
  );

  await stage.client.patch(DynamoGraphDeployment, `${stage.namespace}/summary`, {
    merge: { spec: { sla: { minThroughput: 10 } } },
  });
  await stage.until(
    "less load takes fewer replicas",
    async () => (await stage.get(Deployment, "summary-vllmworker")).spec?.replicas === 1,
  );
};

/** A restart goes through the services in order, each when the one before is ready. */
export const restart: Scenario = async (stage) => {
  await supplyVolumes(stage, "20Gi");
  await stage.start(dynamoOperator);
  // Workers take their time, so that the second service's turn comes visibly later.
  const slow = "annotations:\n        sim.konverge.dev/ready-delay: 5s\n      replicas: 2";
  await stage.apply(sample("graph").replace("replicas: 2", slow));
  await successful(stage, "chat");
  await stage.client.patch(DynamoGraphDeployment, `${stage.namespace}/chat`, {
    merge: { spec: { restart: { id: "now", strategy: { order: ["VllmWorker", "Frontend"] } } } },
  });
  await stage.until(
    "the restart is complete",
    async () => (await stage.get(DynamoGraphDeployment, "chat")).status?.restart?.phase === "Completed",
  );
  const restarted = new Map(
    (await stage.list(ReplicaSet))
      .filter(({ spec }) => spec?.template?.metadata?.annotations?.["nvidia.com/restart-id"] === "now")
      .map(({ metadata }) => [
        metadata.labels?.["nvidia.com/dynamo-component"],
        Date.parse(metadata.creationTimestamp!),
      ]),
  );
  const wait = restarted.get("Frontend")! - restarted.get("VllmWorker")!;
  assert.ok(wait >= (stage.where === "embedded" ? 5_000 : 0), `the second service followed after ${wait} ms`);
};

/** The image is built first, by a Job; the services start with it. */
export const build: Scenario = async (stage) => {
  // The Job that builds it only seems to run.
  stage.cluster?.image("registry.example.com/chat");
  await allowPrivileged(stage);
  await supplyVolumes(stage, "20Gi");
  await stage.start(dynamoOperator);
  const built = (tag: string) =>
    sample("graph").replace(
      "  services:",
      `  build:\n    context: git://example.com/graphs.git\n    destination: registry.example.com/chat:${tag}\n  services:`,
    );
  const images = async () => {
    const sets = (await stage.list(ReplicaSet)).filter(({ metadata }) => metadata.name.startsWith("chat-frontend-"));
    return sets.map(({ spec }) => spec!.template!.spec!.containers[0]!.image).sort();
  };
  await stage.apply(built("1"));
  await successful(stage, "chat");
  const [first] = await stage.list(Job);
  assert.ok(first!.spec!.template.spec!.containers[0]!.args!.includes("--destination=registry.example.com/chat:1"));
  const [component] = await stage.list(DynamoComponent);
  assert.equal(await stage.condition(DynamoComponent, component!.metadata.name, "ImageBuilt"), "True Built");
  assert.deepEqual(await images(), ["registry.example.com/chat:1"]);

  // Another one is built beside it; until it is there, the services stay with the one they have.
  await stage.apply(built("2"));
  await stage.until("the new image runs", async () => (await images()).includes("registry.example.com/chat:2"));
  assert.deepEqual(await images(), ["registry.example.com/chat:1", "registry.example.com/chat:2"]);
  await stage.until("only what is wanted is left", async () => (await stage.list(DynamoComponent)).length === 1);
};

/** An image that somebody asks for by hand. */
export const image: Scenario = async (stage) => {
  await allowPrivileged(stage);
  await stage.start(dynamoOperator);
  await stage.apply(sample("component"));
  await stage.until(
    "it is built",
    async () => (await stage.condition(DynamoComponent, "chat-frontend", "ImageBuilt")) === "True Built",
  );
  await stage.settled();
};

/** A component that somebody writes by hand has all that one of a graph has. */
export const component: Scenario = async (stage) => {
  await supplyVolumes(stage, "1Gi");
  await stage.start(dynamoOperator);
  await stage.apply({
    apiVersion: "nvidia.com/v1alpha1",
    kind: "DynamoComponentDeployment",
    metadata: { name: "alone" },
    spec: { componentType: "frontend", replicas: 2, pvc: { size: "1Gi" }, ingress: { host: "alone" } },
  });
  await stage.until(
    "it is available",
    async () => (await stage.condition(DynamoComponentDeployment, "alone", "Available")) === "True DeploymentReady",
  );
};

/** A volume cannot shrink: it stays as it is, that is reported once, and the rest of the spec is followed. */
export const keepsVolume: Scenario = async (stage) => {
  await component(stage);
  const key = `${stage.namespace}/alone`;
  await stage.client.patch(DynamoComponentDeployment, key, {
    merge: { spec: { replicas: 1, pvc: { size: "512Mi" } } },
  });
  await stage.until("the last generation is available", async () => {
    const { metadata, status } = await stage.get(DynamoComponentDeployment, "alone");
    return status?.observedGeneration === metadata.generation && status?.replicas === 1;
  });
  const { spec } = await stage.client.get(PersistentVolumeClaim, key);
  assert.equal(spec?.resources?.requests?.["storage"], "1Gi");
  const events = await stage.events(DynamoComponentDeployment, "alone");
  assert.deepEqual(
    events.filter((event) => event.includes("ShrinkRefused")),
    ["Warning ShrinkRefused the volume has 1Gi and cannot shrink to 512Mi: it is unchanged"],
  );
};

/** What could never run is refused; what cannot run now says why, does not spin, and recovers. */
export const badInput: Scenario = async (stage) => {
  await supplyVolumes(stage, "20Gi");
  await stage.start(dynamoOperator);
  const refused = (yaml: string, message: RegExp) => assert.rejects(stage.apply(yaml), message);
  await refused(
    sample("graph").replace(/ {2}services:[\s\S]*/, "  restart:\n    id: x\n"),
    /set spec.services to the parts of the graph/,
  );
  await refused(sample("graph").replace("replicas: 2", 'replicas: "two"'), /replicas/);
  await refused(
    sample("graph").replace("replicas: 2", "autoscaling:\n        minReplicas: 5\n        maxReplicas: 2"),
    /is more than maxReplicas/,
  );
  await refused(sample("graph").replace("    Frontend:", "    Vllmworker:"), /is called chat-vllmworker/);
  await refused(sample("graph").replace('gpu: "1"', 'gpu: "lots"'), /gpu/);

  await stage.apply(sample("model").replace("max_latency_ms: 150", "max_latency_ms: 10"));
  await stage.until(
    "the promise is called impossible",
    async () => (await stage.condition(DynamoGraphDeployment, "summary", "Ready")) === "False SlaImpossible",
  );
  await stage.client.delete(DynamoGraphDeployment, `${stage.namespace}/summary`);

  await stage.apply(sample("graph").replace('gpu: "1"', 'gpu: "64"'));
  await stage.until(
    "it is told that there is no room",
    async () => (await stage.condition(DynamoGraphDeployment, "chat", "Ready")) === "False insufficient_capacity",
  );
  await stage.until("there is an event that says so", async () =>
    (await stage.events(DynamoComponentDeployment, "chat-vllmworker")).some((told) =>
      told.startsWith("Warning NoRoom "),
    ),
  );
  await stage.settled();
  const writes = stage.writes();
  await stage.settled();
  assert.equal(stage.writes(), writes);
  await stage.apply(sample("graph"));
  await successful(stage, "chat");
};

/** Several pods per replica need an API that is not there: it is said, and nothing spins. */
export const multinode: Scenario = async (stage) => {
  await stage.start(dynamoOperator);
  await stage.apply(sample("graph").replace("replicas: 2", "replicas: 2\n      multinode:\n        nodeCount: 2"));
  await stage.until(
    "the missing API is named",
    async () =>
      (await stage.condition(DynamoComponentDeployment, "chat-vllmworker", "Ready")) === "False LeaderWorkerSetMissing",
  );
};

/** With that API, a replica is a group of pods; what it looks like follows the component. */
export const groups: Scenario = async (stage) => {
  await supplyVolumes(stage, "20Gi");
  await installForeignKind(stage, LeaderWorkerSet);
  await stage.start(dynamoOperator);
  await stage.apply(sample("graph").replace("replicas: 2", "replicas: 2\n      multinode:\n        nodeCount: 2"));
  await stage.until(
    "the group is there",
    async () => (await stage.find(LeaderWorkerSet, "chat-vllmworker")) !== undefined,
  );
  await stage.client.patch(DynamoGraphDeployment, `${stage.namespace}/chat`, {
    merge: { spec: { services: { VllmWorker: { replicas: 3 } } } },
  });
  await stage.until("it follows", async () => {
    const { spec } = (await stage.get(LeaderWorkerSet, "chat-vllmworker")) as { spec?: { replicas?: number } };
    return spec?.replicas === 3;
  });
  assert.equal(await stage.find(Deployment, "chat-vllmworker"), undefined);
};

/** An autoscaler owns the replicas of the service that asks for one. */
export const autoscaled: Scenario = async (stage) => {
  await supplyVolumes(stage, "20Gi");
  await stage.start(dynamoOperator);
  await stage.apply(
    sample("graph").replace("replicas: 2", "autoscaling:\n        minReplicas: 2\n        maxReplicas: 4"),
  );
  await successful(stage, "chat");
  const scaler = await stage.get(HorizontalPodAutoscaler, "chat-vllmworker");
  assert.equal(scaler.spec?.maxReplicas, 4);
  await stage.client.patch(Deployment, `${stage.namespace}/chat-vllmworker`, { merge: { spec: { replicas: 3 } } });
  await stage.settled();
  const { replicas } = (await stage.get(Deployment, "chat-vllmworker")).spec!;
  assert.ok(replicas! >= 2 && replicas! <= 4, `${replicas} replicas are the autoscaler's choice`);
};

const running = async (stage: TestEnvironment, app: string) =>
  (await stage.list(Pod, `nvidia.com/selector=${app}`)).filter(({ status }) => status?.phase === "Running");
const nodesOf = (pods: readonly Pod[]) => new Set(pods.map(({ spec }) => spec?.nodeName));

/** Volumes that are attached to nodes: several pods get one that can be on several, or run on one node. */
export const attachedVolumes: Scenario = async (stage) => {
  await attachVolumes(stage);
  await stage.start(dynamoOperator);
  await stage.apply(sample("graph").replace("replicas: 2", "replicas: 4"));
  await successful(stage, "chat");
  const { spec } = await stage.get(PersistentVolumeClaim, "chat-models");
  assert.deepEqual(spec?.accessModes, ["ReadWriteMany"]);
  await stage.client.delete(DynamoGraphDeployment, `${stage.namespace}/chat`);
  await stage.until("it is gone", async () => (await stage.find(PersistentVolumeClaim, "chat-models")) === undefined);

  const once = sample("graph").replace("size: 20Gi", "size: 20Gi\n        volumeAccessMode: ReadWriteOnce");
  await stage.apply(once.replace("replicas: 2", "replicas: 4"));
  await successful(stage, "chat");
  const pods = await running(stage, "chat-vllmworker");
  assert.deepEqual([pods.length, nodesOf(pods).size], [4, 1]);
  // A rollout has more pods than replicas for a while.
  await stage.apply(once.replace("replicas: 2", "replicas: 4").replace("value: text", "value: plain"));
  await stage.settled();
  await successful(stage, "chat");
  assert.deepEqual(await stage.list(PersistentVolumeClaim).then((claims) => claims.length), 1);
};

/** A claim that one pod has for itself cannot serve two. */
export const unsharedClaim: Scenario = async (stage) => {
  await stage.start(dynamoOperator);
  await stage.client.create(PersistentVolumeClaim, {
    metadata: { name: "mine", namespace: stage.namespace },
    spec: { accessModes: ["ReadWriteOncePod"], resources: { requests: { storage: "1Gi" } } },
  });
  const graph = (replicas: number) =>
    sample("graph")
      .replace("name: chat-models", "name: mine\n        create: false")
      .replace("replicas: 2", `replicas: ${replicas}`);
  await stage.apply(graph(2));
  await stage.until(
    "it is refused",
    async () =>
      (await stage.condition(DynamoComponentDeployment, "chat-vllmworker", "Ready")) === "False ClaimNotShareable",
  );
  assert.equal(await stage.find(Deployment, "chat-vllmworker"), undefined);
  await stage.apply(graph(1));
  await successful(stage, "chat");
  assert.equal((await stage.get(Deployment, "chat-vllmworker")).spec?.strategy?.type, "Recreate");
};
