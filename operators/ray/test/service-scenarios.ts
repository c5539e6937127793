import assert from "node:assert/strict";
import type { Scenario, TestEnvironment } from "@konverge/operator-suite";
import { RayCluster, RayService, rayOperatorWith } from "@konverge/ray-operator";
import { Pod, Service } from "konverge/kinds";
import { sleep } from "konverge/time";
import { sample } from "./scenarios.ts";
import { SimulatedServe } from "./simulated-serve.ts";

const SERVICE = sample("service");
const UPGRADED = SERVICE.replaceAll("ray:2.46.0", "ray:2.47.0").replace("rayVersion: 2.46.0", "rayVersion: 2.47.0");

async function start(stage: TestEnvironment): Promise<SimulatedServe> {
  const serve = new SimulatedServe();
  await stage.start(rayOperatorWith(serve.fetch));
  return serve;
}

const names = async (stage: TestEnvironment) => (await stage.list(RayCluster)).map(({ metadata }) => metadata.name);
const selected = async (stage: TestEnvironment) =>
  (await stage.find(Service, "fruit-serve-svc"))?.spec?.selector?.["ray.io/cluster"];

/** It serves with a single cluster, which has this many endpoints. */
async function serves(stage: TestEnvironment, endpoints = 2): Promise<string> {
  await stage.until(
    "it serves",
    async () => {
      const { status } = await stage.get(RayService, "fruit");
      return (
        (await stage.condition(RayService, "fruit", "Ready")) === "True NonZeroServeEndpoints" &&
        (await stage.condition(RayService, "fruit", "UpgradeInProgress")) === "False NoPendingCluster" &&
        (await stage.condition(RayService, "fruit", "Progressing")) === "False AsExpected" &&
        status?.numServeEndpoints === endpoints &&
        (await names(stage)).length === 1
      );
    },
    900_000,
  );
  const [only] = await names(stage);
  assert.equal(await selected(stage), only);
  return only!;
}

/** Applications are sent to a cluster, the Services select its pods, and a changed configuration is deployed in place. */
export const serviceRuns: Scenario = async (stage) => {
  const serve = await start(stage);
  await stage.apply(SERVICE);
  const cluster = await serves(stage);
  const { status } = await stage.get(RayService, "fruit");
  assert.equal(status?.serviceStatus, "Running");
  assert.equal(status?.activeServiceStatus?.rayClusterName, cluster);
  assert.equal(status?.activeServiceStatus?.applicationStatuses?.["market"]?.status, "RUNNING");
  assert.equal(status?.activeServiceStatus?.rayClusterStatus?.desiredWorkerReplicas, 1);
  const service = await stage.get(Service, "fruit-serve-svc");
  assert.deepEqual(service.spec?.selector, { "ray.io/cluster": cluster, "ray.io/serve": "true" });
  assert.deepEqual(
    service.spec?.ports?.map(({ name, port }) => `${name}:${port}`),
    ["serve:8000"],
  );
  const head = await stage.get(Service, "fruit-head-svc");
  assert.equal(head.spec?.selector?.["ray.io/cluster"], cluster);
  const worker = await stage.get(Pod, `${cluster}-small-worker-0`);
  assert.match(worker.spec!.containers[0]!.readinessProbe!.exec!.command![2]!, /localhost:8000\/-\/healthz/);
  const pods = (await stage.list(Pod)).map(({ metadata }) => metadata.uid).sort();

  await stage.apply(SERVICE.replace("price: 3", "price: 4"));
  await stage.until("the new configuration is sent", async () =>
    JSON.stringify(serve.sent.at(-1)).includes('"price":4'),
  );
  assert.equal(await serves(stage), cluster);
  assert.deepEqual((await stage.list(Pod)).map(({ metadata }) => metadata.uid).sort(), pods);
  assert.ok(serve.sent.every((one) => one.cluster === cluster));
  await stage.settled();
};

/** Another cluster is made beside the active one; the traffic moves when it serves, and the old one goes later. */
export const serviceUpgraded: Scenario = async (stage) => {
  await start(stage);
  await stage.apply(SERVICE);
  const old = await serves(stage);
  await stage.apply(UPGRADED);
  await stage.until(
    "the requests go to another cluster",
    async () => {
      const { status } = await stage.get(RayService, "fruit");
      const now = await selected(stage);
      assert.ok((status?.numServeEndpoints ?? 0) > 0, "no pod serves requests");
      if (now === old) {
        assert.ok((await names(stage)).includes(old), "the active cluster is gone");
        return false;
      }
      const pod = await stage.get(Pod, `${now}-head-0`);
      assert.ok(
        pod.status?.conditions?.some((one) => one.type === "Ready" && one.status === "True"),
        "requests go to a cluster that is not ready",
      );
      return true;
    },
    900_000,
  );
  assert.ok((await names(stage)).includes(old), "the old cluster is deleted before its time");
  const cluster = await serves(stage);
  assert.notEqual(cluster, old);
  // The pods of the old cluster may still be terminating when it is gone itself.
  await stage.until("all pods have the new image", async () => {
    const images = (await stage.list(Pod)).map(({ spec }) => spec!.containers[0]!.image);
    return images.every((image) => image === "rayproject/ray:2.47.0");
  });
};

/** An upgrade that fails leaves the traffic where it is, and is reported; its end is that of the spec that was put back. */
export const upgradeFails: Scenario = async (stage) => {
  const serve = await start(stage);
  await stage.apply(SERVICE);
  const old = await serves(stage);
  serve.broken.add("fruit.missing");
  await stage.apply(UPGRADED.replace("fruit.deployment_graph", "fruit.missing"));
  await stage.until(
    "the failure is reported",
    async () => (await stage.condition(RayService, "fruit", "Degraded")) === "True ApplicationFailed",
    900_000,
  );
  assert.equal(await selected(stage), old);
  assert.equal(await stage.condition(RayService, "fruit", "UpgradeInProgress"), "True BothActivePendingClustersExist");
  const { status } = await stage.get(RayService, "fruit");
  const failed = status?.pendingServiceStatus?.applicationStatuses?.["market"];
  assert.equal(failed?.message, "ModuleNotFoundError: fruit.missing");
  await stage.apply(SERVICE);
  assert.equal(await serves(stage), old);
  assert.equal(await stage.condition(RayService, "fruit", "Degraded"), "False AsExpected");
};

/** Sizes and added groups change the cluster that is there. */
export const serviceResized: Scenario = async (stage) => {
  await start(stage);
  await stage.apply(SERVICE);
  const cluster = await serves(stage);
  const key = `${stage.namespace}/fruit`;
  const groups = "/spec/rayClusterConfig/workerGroupSpecs";
  await stage.client.patch(RayService, key, { json: [{ op: "replace", path: `${groups}/0/replicas`, value: 2 }] });
  assert.equal(await serves(stage, 3), cluster);
  const [first] = (await stage.get(RayService, "fruit")).spec.rayClusterConfig.workerGroupSpecs!;
  const value = { ...first!, groupName: "more", replicas: 1 };
  await stage.client.patch(RayService, key, { json: [{ op: "add", path: `${groups}/-`, value }] });
  assert.equal(await serves(stage, 4), cluster);
  // A group less is another cluster, which must not have the name of this one.
  await stage.client.patch(RayService, key, { json: [{ op: "remove", path: `${groups}/1` }] });
  assert.notEqual(await serves(stage, 3), cluster);
};

/** A head that was restarted without its state gets the applications again; one that does not serve gets no requests. */
export const headForgets: Scenario = async (stage) => {
  const serve = await start(stage);
  await stage.apply(SERVICE);
  const cluster = await serves(stage);
  const before = serve.sent.length;
  serve.forget(cluster);
  await stage.until("the applications are sent again", async () => serve.sent.length > before);
  await serves(stage);
  serve.isHealthy = false;
  await serves(stage, 1);
  assert.equal((await stage.get(Pod, `${cluster}-head-0`)).metadata.labels?.["ray.io/serve"], "false");
  serve.isHealthy = true;
  await serves(stage);
  await stage.client.patch(RayService, `${stage.namespace}/fruit`, {
    merge: { spec: { excludeHeadPodFromServeSvc: true, serveService: { metadata: { labels: { team: "fruit" } } } } },
  });
  await serves(stage, 1);
  assert.equal((await stage.get(Service, "fruit-serve-svc")).metadata.labels?.["team"], "fruit");
};

/** A suspended service keeps nothing, and serves again afterwards. */
export const serviceSuspended: Scenario = async (stage) => {
  await start(stage);
  await stage.apply(SERVICE);
  await serves(stage);
  const suspend = (to: boolean) =>
    stage.client.patch(RayService, `${stage.namespace}/fruit`, { merge: { spec: { suspend: to } } });
  await suspend(true);
  await stage.until("it is suspended", async () => {
    const left = (await names(stage)).length + (await stage.list(Pod)).length;
    return left === 0 && (await stage.condition(RayService, "fruit", "Suspended")) === "True SuspendComplete";
  });
  assert.equal(await selected(stage), undefined);
  await suspend(false);
  await serves(stage);
  await stage.client.delete(RayService, `${stage.namespace}/fruit`);
  await stage.until("nothing is left", async () => (await stage.list(Pod)).length + (await names(stage)).length === 0);
};

/** With the strategy None, a changed cluster is not replaced; applications are deployed all the same. */
export const notUpgraded: Scenario = async (stage) => {
  const serve = await start(stage);
  const none = (text: string) => text.replace("spec:\n", "spec:\n  upgradeStrategy: { type: None }\n");
  await stage.apply(none(SERVICE));
  const cluster = await serves(stage);
  const sent = serve.sent.length;
  await stage.apply(none(UPGRADED).replace("price: 3", "price: 5"));
  await stage.until("the new configuration is sent", async () => serve.sent.length > sent);
  assert.equal(await serves(stage), cluster);
  assert.match((await stage.get(Pod, `${cluster}-head-0`)).spec!.containers[0]!.image!, /2\.46\.0/);
  assert.equal(serve.sent.length, sent + 1);
};

/** What could never serve is refused, with the field. */
export const badServices: Scenario = async (stage) => {
  await start(stage);
  const refused = (change: (text: string) => string, message: RegExp) =>
    assert.rejects(stage.apply(change(SERVICE)), message);
  await refused((text) => text.replace("applications:", "apps:"), /spec\.serveConfigV2: .*has no list of applications/);
  await refused((text) => text.replace("- name: market", "- name: market: x"), /spec\.serveConfigV2/);
  await refused(
    (text) => text.replace(/ +image: .*\n/, ""),
    /spec\.rayClusterConfig\.headGroupSpec.*an image that contains Ray/,
  );
  await refused(
    (text) => text.replace("spec:\n", "spec:\n  upgradeStrategy: { type: Sideways }\n"),
    /spec\.upgradeStrategy\.type: Unsupported value/,
  );
  const shared =
    "rayClusterConfig:\n    gcsFaultToleranceOptions: { redisAddress: 'redis:6379', externalStorageNamespace: ours }\n";
  await refused((text) => text.replace("rayClusterConfig:\n", shared), /would share their state/);
};

/** A dashboard that does not answer is reported, and asked again. */
export const dashboardSilent: Scenario = async (stage) => {
  const serve = new SimulatedServe();
  let isReachable = false;
  await stage.start(
    rayOperatorWith((url, init) => {
      if (!isReachable) throw new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") });
      return serve.fetch(url, init);
    }),
  );
  await stage.apply(SERVICE);
  await stage.until(
    "it is reported",
    async () => (await stage.condition(RayService, "fruit", "Degraded")) === "True DashboardUnreachable",
  );
  assert.equal(await stage.condition(RayService, "fruit", "Ready"), "False Initializing");
  isReachable = true;
  await serves(stage);
};

/** A dashboard that starts Ray Serve accepts its first configuration only then, which is no problem. */
export const serveStartsSlowly: Scenario = async (stage) => {
  const serve = new SimulatedServe();
  await stage.start(
    rayOperatorWith(async (url, init) => {
      if (init.method === "PUT" && serve.sent.length === 0) await sleep(stage.clock, 45_000);
      return serve.fetch(url, init);
    }),
  );
  await stage.apply(SERVICE);
  await serves(stage);
  assert.equal(serve.sent.length, 1);
  const events = await stage.events(RayService, "fruit");
  assert.deepEqual(
    events.filter((event) => event.startsWith("Warning")),
    [],
  );
};
