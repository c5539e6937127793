import assert from "node:assert/strict";
import { kubeflowOperator } from "@konverge/kubeflow-operator";
import { lateNode, type Scenario, supplyVolumes, type TestEnvironment, unpullable } from "@konverge/operator-suite";
import { PersistentVolumeClaim, Pod, ResourceQuota } from "konverge/kinds";
import { change, job, KINDS, type Kind, MXNET, PYTORCH, podsOf, TENSORFLOW, untilState, XGBOOST } from "./jobs.ts";

/** What is wrong is refused, with the field that is wrong. */
export const refused: Scenario = async (stage) => {
  await stage.start(kubeflowOperator);
  const isRefused = (manifest: object, message: RegExp) => assert.rejects(stage.apply(manifest), message);
  for (const kind of KINDS) {
    const good = { [kind.lead]: {}, Worker: {} };
    const at = (type: string) => `spec.${kind.specs}\\[${type}\\]`;
    await isRefused(job(kind, "x", { ...good, Worker: { replicas: -1 } }), /replicas.*greater than or equal to 0/);
    await isRefused(job(kind, "x", { ...good, Worker: { replicas: "two" as never } }), /replicas: expected numeric/);
    await isRefused(job(kind, "x", { ...good, Worker: { replicas: 9_999_999_999 } }), /replicas/);
    await isRefused(job(kind, "x", { ...good, Worker: { restartPolicy: "Sometimes" } }), /Unsupported value/);
    await isRefused(job(kind, "x", good, { runPolicy: { cleanPodPolicy: "Some" } }), /cleanPodPolicy/);
    await isRefused(job(kind, "x", good, { runPolicy: { backoffLimit: -1 } }), /backoffLimit/);
    await isRefused(job(kind, "x", good, { [kind.specs]: {} }), new RegExp(`spec.${kind.specs}: Required value`));
    const containers = new RegExp(`${at("Worker")}.template.spec.containers: Required value`);
    await isRefused(job(kind, "x", { ...good, Worker: { template: { spec: { containers: [] } } } }), containers);
    await isRefused(
      job(kind, "x", { ...good, Worker: { container: { name: "main" } } }),
      new RegExp(`must have at least one container with name ${kind.container}`),
    );
    await isRefused(job(kind, "x", { ...good, Worker: { container: { image: "" } } }), /image: Required value/);
    await isRefused(job(kind, "9x", good), /metadata.name: Invalid value/);
    await isRefused(job(kind, "a".repeat(60), good), /would have a name of more than 63 characters/);
    await isRefused({ ...job(kind, "x", good), spec: undefined }, /spec/);
  }
  await isRefused(job(PYTORCH, "x", { Master: { replicas: 2 } }), /replicas: Forbidden: must be 1/);
  await isRefused(job(PYTORCH, "x", { Master: {}, Chief: {} }), /supported values: "Master", "Worker"/);
  const twice = { nprocPerNode: "2", elasticPolicy: { nProcPerNode: 2 } };
  await isRefused(job(PYTORCH, "x", { Worker: {} }, twice), /must not be used with spec.nprocPerNode/);
  await isRefused(job(TENSORFLOW, "x", { Chief: {}, Master: {} }), /not have more than 1 Chief or Master/);
  await isRefused(job(XGBOOST, "x", { Worker: {} }), /\[Master\]: Required value: must be present/);
  await isRefused(job(MXNET, "x", { Worker: {} }, { jobMode: "MXGuess" }), /jobMode/);
};

const untilStalled = async (stage: TestEnvironment, kind: Kind, name: string, reason: string, message: RegExp) => {
  await stage.until(`${name} says ${reason}`, async () => {
    const { status } = await stage.get(kind.kind, name);
    const [first] = status?.conditions ?? [];
    return first?.type === "Stalled" && first.reason === reason && message.test(first.message ?? "");
  });
  // Events are written whenever there is time.
  await stage.until(`an event says ${reason}`, async () => {
    const events = await stage.events(kind.kind, name);
    return events.some((text) => text.startsWith(`Warning ${reason} `) && message.test(text));
  });
  assert.notEqual((await stage.get(kind.kind, name)).status?.conditions?.at(-1)?.type, "Stalled");
};

const quiet = async (stage: TestEnvironment) => {
  await stage.settled();
  const writes = stage.writes();
  await stage.settled();
  assert.equal(stage.writes(), writes, "it writes on though nothing changes");
};

/** A problem that keeps a worker's pod from running: its spec, and the expected condition. */
interface Problem {
  readonly name: string;
  readonly container?: object;
  readonly pod?: object;
  readonly reason: string;
  readonly message: RegExp;
}

const BAD_IMAGE = "registry.example/none:1";
const PROBLEMS: readonly Problem[] = [
  {
    name: "huge",
    container: { resources: { limits: { "nvidia.com/gpu": 4000 } } },
    reason: "Unschedulable",
    message: /huge-worker-0: .*Insufficient nvidia.com\/gpu/,
  },
  {
    name: "exotic",
    pod: { nodeSelector: { "nvidia.com/gpu.product": "Z9000" } },
    reason: "Unschedulable",
    message: /exotic-worker-0: .*didn't match Pod's node affinity/,
  },
  {
    name: "dataless",
    pod: { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "nowhere" } }] },
    reason: "Unschedulable",
    message: /dataless-worker-0: .*persistentvolumeclaim "nowhere" not found/,
  },
  {
    name: "typo",
    container: { image: BAD_IMAGE },
    reason: "ImagePullFailed",
    message: /typo-worker-0: the image registry.example\/none:1 cannot be pulled/,
  },
];

/** Missing capacity, claims and images are reported; the job waits without writes, and continues once they are fixed. */
export const stuck =
  (kind: Kind): Scenario =>
  async (stage) => {
    unpullable(stage, BAD_IMAGE);
    await supplyVolumes(stage, "1Gi");
    await stage.start(kubeflowOperator);
    const good = { name: kind.container, image: "example.com/train:1.0" };
    const worker = ({ container, pod }: Partial<Problem>) => ({
      template: { spec: { containers: [{ ...good, ...container }], ...pod } },
    });
    for (const problem of PROBLEMS) {
      await stage.apply(job(kind, problem.name, { [kind.lead]: {}, Worker: worker(problem) }));
    }
    for (const { name, reason, message } of PROBLEMS) await untilStalled(stage, kind, name, reason, message);
    await quiet(stage);
    await stage.client.create(PersistentVolumeClaim, {
      metadata: { name: "nowhere", namespace: stage.namespace },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    });
    for (const { name } of PROBLEMS) {
      if (name === "dataless") continue;
      // The spec of an existing pod does not change: it is deleted and recreated.
      await stage.apply(job(kind, name, { [kind.lead]: {}, Worker: worker({}) }));
      await stage.client.delete(Pod, `${stage.namespace}/${name}-worker-0`, { gracePeriodSeconds: 0 });
    }
    for (const { name } of PROBLEMS) {
      await stage.until(`${name} runs without the condition Stalled`, async () => {
        const pods = await podsOf(stage, name);
        const { status } = await stage.get(kind.kind, name);
        return (
          pods.length === 2 &&
          pods.every((pod) => pod.status?.phase === "Running") &&
          status?.conditions?.at(-1)?.type === "Running" &&
          !status.conditions.some(({ type }) => type === "Stalled")
        );
      });
    }
  };

/** Nowhere to run at all, until a node comes. */
export const noNodes: Scenario = async (stage) => {
  await stage.start(kubeflowOperator);
  for (const kind of KINDS) await stage.apply(job(kind, kind.container, { [kind.lead]: {} }));
  for (const kind of KINDS) await untilStalled(stage, kind, kind.container, "Unschedulable", /no nodes available/);
  await quiet(stage);
  await lateNode(stage);
  for (const kind of KINDS) await untilState(stage, kind, kind.container, "Running");
};

/** Pods that a quota rejects are reported, and created once it allows them. */
export const quota: Scenario = async (stage) => {
  await stage.start(kubeflowOperator);
  await stage.apply({
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name: "few" },
    spec: { hard: { pods: "1" } },
  });
  await stage.until("the quota is known", async () => {
    return (await stage.get(ResourceQuota, "few")).status?.hard?.["pods"] !== undefined;
  });
  await stage.apply(job(PYTORCH, "many", { Master: {}, Worker: { replicas: 2 } }));
  await untilStalled(stage, PYTORCH, "many", "QuotaExceeded", /many-worker-0 cannot be created: .*exceeded quota/);
  const events = await stage.events(PYTORCH.kind, "many");
  assert.ok(events.some((text) => /^Warning FailedCreatePod Error creating: .*exceeded quota/.test(text)));
  await stage.client.delete(ResourceQuota, `${stage.namespace}/few`);
  await stage.until("all are there", async () => (await podsOf(stage, "many")).length === 3);
  await untilState(stage, PYTORCH, "many", "Running");
};

/** A template that no server accepts, and a name that is taken. */
export const unmakeable: Scenario = async (stage) => {
  await stage.start(kubeflowOperator);
  await stage.apply(job(TENSORFLOW, "odd", { Worker: { container: { imagePullPolicy: "Perhaps" } } }));
  await untilStalled(stage, TENSORFLOW, "odd", "PodInvalid", /odd-worker-0 cannot be created: .*imagePullPolicy/);
  await quiet(stage);
  await stage.apply(job(TENSORFLOW, "odd", { Worker: {} }));
  await untilState(stage, TENSORFLOW, "odd", "Running");

  await stage.apply({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "taken-master-0" },
    spec: { containers: [{ name: "c", image: "example.com/c:1" }] },
  });
  await stage.apply(job(XGBOOST, "taken", { Master: {} }));
  await untilStalled(stage, XGBOOST, "taken", "NameTaken", /a pod taken-master-0 that is not this job's/);
  await stage.client.delete(Pod, `${stage.namespace}/taken-master-0`);
  await untilState(stage, XGBOOST, "taken", "Running");
};

/** A job that bypassed admission reports its problem, and runs once it is fixed. */
export const pastAdmission: Scenario = async (stage) => {
  await stage.install(kubeflowOperator);
  await stage.apply(job(MXNET, "sneaky", { Worker: { container: { name: "main" } } }));
  await stage.start(kubeflowOperator);
  await untilStalled(stage, MXNET, "sneaky", "InvalidSpec", /must have at least one container with name mxnet/);
  await quiet(stage);
  const worker = { template: { spec: { containers: [{ name: "mxnet", image: "example.com/train:1.0" }] } } };
  await change(stage, MXNET, "sneaky", { mxReplicaSpecs: { Worker: worker } });
  await untilState(stage, MXNET, "sneaky", "Running");
};
