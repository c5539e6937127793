import assert from "node:assert/strict";
import type { Scenario, TestEnvironment } from "@konverge/operator-suite";
import { RayCluster, rayOperator } from "@konverge/ray-operator";
import { Pod, Role, RoleBinding, ServiceAccount } from "konverge/kinds";
import { sample } from "./scenarios.ts";

const GROUP = "/spec/workerGroupSpecs/0";
const workers = async (stage: TestEnvironment) => {
  const pods = (await stage.list(Pod)).filter(({ metadata }) => metadata.labels?.["ray.io/node-type"] === "worker");
  return pods.map(({ metadata }) => metadata.name.replace("elastic-small-worker-", "")).sort();
};
const ready = (stage: TestEnvironment) =>
  stage.until(
    "the cluster is ready",
    async () => (await stage.condition(RayCluster, "elastic", "Ready")) === "True AsExpected",
  );

/** What the autoscaler writes: a size, and whom it has found idle. */
async function decide(stage: TestEnvironment, replicas: number, going: readonly string[]): Promise<void> {
  await stage.client.patch(RayCluster, `${stage.namespace}/elastic`, {
    json: [
      { op: "replace", path: `${GROUP}/replicas`, value: replicas },
      {
        op: "add",
        path: `${GROUP}/scaleStrategy`,
        value: { workersToDelete: going.map((index) => `elastic-small-worker-${index}`) },
      },
    ],
  });
}

/** The autoscaler beside the head, its account and its rights, and workers that come and go as it decides. */
export const autoscaled: Scenario = async (stage) => {
  await stage.start(rayOperator);
  await stage.apply(sample("autoscaled"));
  await ready(stage);
  const head = await stage.get(Pod, "elastic-head-0");
  const [ray, autoscaler] = head.spec!.containers;
  assert.match(ray!.args![0]!, /ray start --head .*--no-monitor /);
  assert.equal(autoscaler?.name, "autoscaler");
  assert.equal(autoscaler?.image, ray?.image);
  assert.match(autoscaler!.args![0]!, /^ray kuberay-autoscaler --cluster-name /);
  assert.equal(head.spec?.serviceAccountName, "elastic");
  assert.equal(head.spec?.restartPolicy, "Never");
  await stage.get(ServiceAccount, "elastic");
  const { rules } = await stage.get(Role, "elastic");
  assert.deepEqual(rules?.find(({ apiGroups }) => apiGroups?.[0] === "ray.io")?.verbs, ["get", "patch"]);
  const { subjects } = await stage.get(RoleBinding, "elastic");
  assert.deepEqual(subjects?.[0]?.name, "elastic");
  assert.deepEqual(await workers(stage), []);

  await decide(stage, 3, []);
  await stage.until("three workers", async () => (await workers(stage)).join() === "0,1,2");
  await ready(stage);
  // Fewer without names: the autoscaler has not said yet who is idle, so that nobody goes.
  await decide(stage, 2, []);
  await stage.settled();
  assert.equal((await workers(stage)).join(), "0,1,2");
  await decide(stage, 2, ["0"]);
  await stage.until("the idle one is gone", async () => (await workers(stage)).join() === "1,2");
  // What is done is struck from the list: those at work stay who they are.
  await decide(stage, 2, []);
  await stage.settled();
  assert.equal((await workers(stage)).join(), "1,2");
  await decide(stage, 3, []);
  await stage.until("another one", async () => (await workers(stage)).join() === "0,1,2");
  await ready(stage);
};

/** Without the autoscaler its account and its rights go, and sizes are the user's again. */
export const switchedOff: Scenario = async (stage) => {
  await stage.start(rayOperator);
  await stage.apply(sample("autoscaled"));
  await ready(stage);
  await decide(stage, 2, []);
  await stage.until("two workers", async () => (await workers(stage)).join() === "0,1");
  await stage.client.patch(RayCluster, `${stage.namespace}/elastic`, {
    merge: { spec: { enableInTreeAutoscaling: false } },
  });
  await stage.until("its rights are gone", async () => (await stage.find(Role, "elastic")) === undefined);
  await stage.until("its container is gone", async () => {
    const head = await stage.find(Pod, "elastic-head-0");
    return head?.spec?.containers.length === 1 && !head.metadata.deletionTimestamp;
  });
  await decide(stage, 1, []);
  // Without the autoscaler, workers are restarted where they are, so the earlier ones were replaced: under which names depends on when
  // a name was free.
  await stage.until("one worker", async () => (await workers(stage)).length === 1);
  await ready(stage);
  await decide(stage, 0, []);
  await stage.until("no worker", async () => (await workers(stage)).length === 0);
  await ready(stage);
};
