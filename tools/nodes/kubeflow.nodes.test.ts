import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { isNotFound } from "@konverge/core";
import { Pod } from "@konverge/kinds";
import { PyTorchJob, TFJob, XGBoostJob } from "@konverge/kubeflow-operator";
import { pythonImage } from "./images/python-packages.ts";
import { busybox, python } from "./images/server-images.ts";
import { NodeCluster } from "./node-cluster.ts";
import { RESTRICTED } from "./pods.ts";
import { whyNoRealNodes } from "./requirements.ts";
import { timed, until } from "./waiting.ts";

const NAMESPACE = "jobs";
const program = (name: string) => readFileSync(new URL(`programs/${name}.py`, import.meta.url), "utf8");

const xgboost = pythonImage({ name: "docker.io/example/xgboost:3.2.0", requirements: ["xgboost-cpu==3.2.0"] });

/** Kubeflow's jobs with programs that meet by the variables that these jobs have. */
describe("kubeflow on real nodes", { skip: whyNoRealNodes() }, () => {
  let cluster: NodeCluster;

  before(async () => {
    cluster = await NodeCluster.start({ name: "lane-kubeflow", images: [python, busybox, xgboost] });
    for (const name of [NAMESPACE, "operators"]) await cluster.restrictedNamespace(name);
    cluster.deploy("kubeflow-operator", "operators", "--pytorchInitContainerImage=busybox:1.35");
  });
  after(async () => await cluster?.stop());

  /** All have the same status; what differs is written as a user writes it. */
  const like = (kind: unknown) => kind as typeof PyTorchJob;
  const kinds = { PyTorchJob, TFJob: like(TFJob), XGBoostJob: like(XGBoostJob) };
  type KindName = keyof typeof kinds;
  const get = (kind: KindName, name: string) => cluster.client.get(kinds[kind], `${NAMESPACE}/${name}`);
  const pod = (name: string) => cluster.client.get(Pod, `${NAMESPACE}/${name}`);
  const log = async (name: string) => (await cluster.log(`${NAMESPACE}/${name}`)).join("\n");

  /** A type of replicas that run a program. */
  const replicas = (
    container: string,
    image: string,
    script: string,
    count: number,
    more: { restartPolicy?: string; env?: Record<string, string> } = {},
  ) => ({
    replicas: count,
    ...(more.restartPolicy && { restartPolicy: more.restartPolicy }),
    template: {
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            name: container,
            image,
            command: ["python3", "-c", script],
            env: Object.entries(more.env ?? {}).map(([name, value]) => ({ name, value })),
            securityContext: RESTRICTED,
          },
        ],
      },
    },
  });
  /** As a user writes it: fields with defaults are left to the server. */
  const create = (kind: KindName, name: string, spec: object) =>
    cluster.client.create(kinds[kind], {
      metadata: { name, namespace: NAMESPACE },
      spec: spec as unknown as PyTorchJob["spec"],
    });
  const ends = (kind: KindName, name: string, type: "Succeeded" | "Failed") =>
    until(`${name} has ${type}`, 180, async () => {
      const { status } = await get(kind, name);
      const found = status?.conditions?.find((one) => one.type === type && one.status === "True");
      if (found) return found;
      throw new Error(JSON.stringify(status));
    });

  test("the master and the workers of a PyTorchJob meet over their Services and train together", async (t) => {
    const trains = async () => {
      await create("PyTorchJob", "line", {
        pytorchReplicaSpecs: {
          Master: replicas("pytorch", "python:3.11-slim", program("train"), 1),
          Worker: replicas("pytorch", "python:3.11-slim", program("train"), 3),
        },
      });
      await ends("PyTorchJob", "line", "Succeeded");
    };
    t.diagnostic(`trained in ${await timed(trains)} s`);
    assert.match(await log("line-master-0"), /ends with 3\.000 x \+ 2\.000/);
    assert.match(await log("line-worker-2"), /rank 3 of 4 begins/);
    const { items } = await cluster.client.list(Pod, { namespace: NAMESPACE });
    assert.equal(new Set(items.map(({ spec }) => spec?.nodeName)).size, 2, "pods ran on both nodes");
  });

  test("a worker of a PyTorchJob that is killed restarts in its pod, and the job succeeds", async (t) => {
    const env = { HP_STEPS: "100", HP_PAUSE: "0.1" };
    await create("PyTorchJob", "killed", {
      runPolicy: { backoffLimit: 10 },
      pytorchReplicaSpecs: {
        Master: replicas("pytorch", "python:3.11-slim", program("train"), 1, { env }),
        Worker: replicas("pytorch", "python:3.11-slim", program("train"), 2, { env }),
      },
    });
    await until("it trains", 90, async () =>
      (await log("killed-worker-1")).includes('"step": 5,') ? true : undefined,
    );
    const { uid } = (await pod("killed-worker-1")).metadata;
    await cluster.killContainer(`${NAMESPACE}/killed-worker-1`, "pytorch");
    t.diagnostic(`ended ${await timed(async () => await ends("PyTorchJob", "killed", "Succeeded"))} s after the kill`);
    const after = await pod("killed-worker-1");
    assert.equal(after.metadata.uid, uid, "the pod is the same");
    assert.ok((after.status?.containerStatuses?.[0]?.restartCount ?? 0) >= 1, "its container was restarted");
    assert.match(await log("killed-master-0"), /ends with 3\.000 x \+ 2\.000/);
  });

  test("a worker of a TFJob that a signal ends is replaced by another pod, which knows the chief from TF_CONFIG", async (t) => {
    const restartPolicy = "ExitCode";
    await create("TFJob", "tasks", {
      tfReplicaSpecs: {
        Chief: replicas("tensorflow", "python:3.11-slim", program("tasks"), 1, { restartPolicy }),
        Worker: replicas("tensorflow", "python:3.11-slim", program("tasks"), 2, { restartPolicy, env: { HOLD: "10" } }),
      },
    });
    await until("worker 1 runs", 90, async () =>
      (await log("tasks-worker-1")).includes("worker 1 begins") ? true : undefined,
    );
    const { uid } = (await pod("tasks-worker-1")).metadata;
    await cluster.killContainer(`${NAMESPACE}/tasks-worker-1`, "tensorflow");
    const replaced = async () =>
      await until("worker 1 is replaced", 60, async () => {
        const { metadata, status } = await pod("tasks-worker-1");
        return metadata.uid !== uid && status?.phase === "Running" ? true : undefined;
      });
    t.diagnostic(`replaced in ${await timed(replaced)} s`);
    await ends("TFJob", "tasks", "Succeeded");
    assert.match(await log("tasks-chief-0"), /results {"0": "tasks-worker-0", "1": "tasks-worker-1"}/);
  });

  test("an exit code below 128 ends a TFJob, which is deleted after its time to live with its pods", async () => {
    const failing = "import sys; sys.exit(3)";
    await create("TFJob", "broken", {
      runPolicy: { ttlSecondsAfterFinished: 5 },
      tfReplicaSpecs: {
        Worker: replicas("tensorflow", "python:3.11-slim", failing, 2, { restartPolicy: "ExitCode" }),
      },
    });
    const { message } = await ends("TFJob", "broken", "Failed");
    assert.match(message ?? "", /"Worker" replica\(s\) failed/);
    await until("the job is deleted", 60, async () =>
      get("TFJob", "broken").then(
        () => undefined,
        (error: unknown) => (isNotFound(error) ? true : undefined),
      ),
    );
    await until("its pods are deleted", 60, async () => {
      const { items } = await cluster.client.list(Pod, { namespace: NAMESPACE });
      return items.some(({ metadata }) => metadata.name!.startsWith("broken-")) ? undefined : true;
    });
  });

  test("XGBoost trains one model in three pods of an XGBoostJob, which meet at the master's tracker", async (t) => {
    const trains = async () => {
      await create("XGBoostJob", "trees", {
        xgbReplicaSpecs: {
          Master: replicas("xgboost", "example/xgboost:3.2.0", program("boost"), 1),
          Worker: replicas("xgboost", "example/xgboost:3.2.0", program("boost"), 2),
        },
      });
      await ends("XGBoostJob", "trees", "Succeeded");
    };
    t.diagnostic(`trained in ${await timed(trains)} s`);
    const models = await Promise.all(
      ["trees-master-0", "trees-worker-0", "trees-worker-1"].map(async (name) => {
        const [, trained] =
          /^rank \d of 3 trains with 1000 rows\nmodel (\d+) predicts (?:0\.9|1)/m.exec(await log(name)) ?? [];
        return trained;
      }),
    );
    assert.ok(models[0], "the master has a model that predicts");
    assert.deepEqual(new Set(models).size, 1, "all have the same model");
  });
});
