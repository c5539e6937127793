import assert from "node:assert/strict";
import { kubeflowOperator } from "@konverge/kubeflow-operator";
import type { Scenario } from "@konverge/operator-suite";
import { CustomResourceDefinition, Pod, Service } from "konverge/kinds";
import {
  change,
  endPod,
  job,
  KINDS,
  type Kind,
  PYTORCH,
  podsOf,
  sample,
  stateOf,
  TENSORFLOW,
  untilState,
} from "./jobs.ts";

/** Nearly everything that is written for a job: pods, Services, a restart, suspension, the end, clean-up. */
export const aFullLife: Scenario = async (stage) => {
  await stage.start(kubeflowOperator);
  const worker = { restartPolicy: "ExitCode" };
  const spec = { runPolicy: { cleanPodPolicy: "Running" } };
  await stage.apply(job(TENSORFLOW, "life", { Chief: { restartPolicy: "ExitCode" }, Worker: worker }, spec));
  await untilState(stage, TENSORFLOW, "life", "Running");
  const before = await stage.get(Pod, "life-worker-0");
  await endPod(stage, "life-worker-0", 137);
  await stage.until("the worker is another one, and runs", async () => {
    const pod = await stage.find(Pod, "life-worker-0");
    return pod?.status?.phase === "Running" && pod.metadata.uid !== before.metadata.uid;
  });
  await change(stage, TENSORFLOW, "life", { runPolicy: { suspend: true } });
  await stage.until("nothing is left", async () => {
    return (await stage.list(Service, "training.kubeflow.org/job-name=life")).length === 0;
  });
  await change(stage, TENSORFLOW, "life", { runPolicy: { suspend: false } });
  await untilState(stage, TENSORFLOW, "life", "Running");
  await stage.until("all run", async () => {
    const pods = await podsOf(stage, "life");
    return pods.length === 2 && pods.every(({ status }) => status?.phase === "Running");
  });
  await endPod(stage, "life-chief-0", 0);
  await untilState(stage, TENSORFLOW, "life", "Succeeded");
  await stage.until("what ran is deleted", async () => (await podsOf(stage, "life")).length === 1);
  await stage.until("so are its Services", async () => {
    return (await stage.list(Service, "training.kubeflow.org/job-name=life")).length === 1;
  });
};

/**
 * A job of a kind runs, all its pods with it. If pods were not restarted, which is upstream's default for most kinds, a pod that is deleted
 * would end the job, unless the operator learns of it only after its deletion.
 */
export const runsOf =
  (kind: Kind): Scenario =>
  async (stage) => {
    await stage.start(kubeflowOperator);
    const restartPolicy = "ExitCode";
    await stage.apply(job(kind, "runs", { [kind.lead]: { restartPolicy }, Worker: { replicas: 2, restartPolicy } }));
    await stage.until("all run", async () => {
      const pods = await podsOf(stage, "runs");
      return pods.length === 3 && pods.every(({ status }) => status?.phase === "Running");
    });
    await untilState(stage, kind, "runs", "Running");
    await stage.settled();
  };

/** An elastic job with its autoscaler, that a deadline ends; whatever happens, no pod survives it. */
export const aShortLife: Scenario = async (stage) => {
  await stage.start(kubeflowOperator);
  const seconds = stage.where === "embedded" ? "120" : "25";
  const elastic = sample("02-pytorchjob-elastic.yaml").replace("replicas: 2", "replicas: 1");
  await stage.apply(elastic.replace("43200", seconds));
  await untilState(stage, PYTORCH, "resnet-elastic", "Running");
  await stage.client.scale(PYTORCH.kind, `${stage.namespace}/resnet-elastic`, 2);
  await stage.until("two run", async () => {
    const { replicaStatuses } = (await stage.get(PYTORCH.kind, "resnet-elastic")).status ?? {};
    return replicaStatuses?.["Worker"]?.active === 2;
  });
  await untilState(stage, PYTORCH, "resnet-elastic", "Failed");
  await stage.until("all pods are deleted", async () => (await podsOf(stage, "resnet-elastic")).length === 0);
};

/** Deleted in each phase, a job leaves nothing behind. */
export const deletedInEachPhase: Scenario = async (stage) => {
  await stage.start(kubeflowOperator);
  const untilDeleted = async (kind: Kind, name: string) => {
    await stage.client.delete(kind.kind, `${stage.namespace}/${name}`);
    await stage.until(`nothing is left of ${name}`, async () => {
      const services = await stage.list(Service, `training.kubeflow.org/job-name=${name}`);
      return services.length === 0 && (await podsOf(stage, name)).length === 0 && !(await stage.find(kind.kind, name));
    });
  };
  for (const kind of KINDS) {
    const replicas = { [kind.lead]: { restartPolicy: "Never" }, Worker: { restartPolicy: "Never" } };
    const at = async (phase: string, reach: (name: string) => Promise<void>, spec: object = {}) => {
      const name = `${phase}-${kind.container}`;
      await stage.apply(job(kind, name, replicas, spec));
      await reach(name);
      await untilDeleted(kind, name);
    };
    const running = (name: string) => untilState(stage, kind, name, "Running");
    const lead = `-${kind.lead.toLowerCase()}-0`;
    await at("new", async () => undefined);
    await at("runs", running);
    await at("rests", (name) => untilState(stage, kind, name, "Suspended"), { runPolicy: { suspend: true } });
    await at("done", async (name) => {
      await running(name);
      await endPod(stage, `${name}${lead}`, 0);
      await untilState(stage, kind, name, "Succeeded");
    });
    await at("failed", async (name) => {
      await running(name);
      await endPod(stage, `${name}${lead}`, 1);
      await untilState(stage, kind, name, "Failed");
    });
  }
};

/** Errors of the API server are waited out. */
export const apiErrors: Scenario = async (stage) => {
  await stage.start(kubeflowOperator);
  let refusals = 0;
  stage.injectFault(async (request, next) => {
    const isWrite = request.method !== "GET" && !request.path.includes("/events");
    if (!isWrite || ++refusals % 3 === 0) return next(request);
    const status = { kind: "Status", apiVersion: "v1", status: "Failure", code: 500, reason: "InternalError" };
    return { status: 500, headers: {}, body: JSON.stringify({ ...status, message: "etcdserver: request timed out" }) };
  });
  await stage.apply(job(PYTORCH, "tough", { Master: {}, Worker: { replicas: 2 } }));
  await untilState(stage, PYTORCH, "tough", "Running");
  stage.injectFault(undefined);
  assert.ok(refusals > 3);
  await stage.until("it looks as always", async () => {
    const { status } = await stage.get(PYTORCH.kind, "tough");
    return status?.conditions?.map(({ type }) => type).join() === "Created,Running";
  });
};

/** When a CRD is deleted, the jobs of the other kinds go on; when it is back, new ones run. */
export const crdDeleted: Scenario = async (stage) => {
  await stage.start(kubeflowOperator);
  await stage.apply(job(PYTORCH, "first", { Master: {} }));
  await untilState(stage, PYTORCH, "first", "Running");
  await stage.client.delete(CustomResourceDefinition, "pytorchjobs.kubeflow.org");
  await stage.until("its pods are deleted", async () => (await podsOf(stage, "first")).length === 0);
  await stage.apply(job(TENSORFLOW, "other", { Worker: {} }));
  await untilState(stage, TENSORFLOW, "other", "Running");
  await stage.install(kubeflowOperator);
  await stage.apply(job(PYTORCH, "second", { Master: {} }));
  await untilState(stage, PYTORCH, "second", "Running");
  assert.equal(await stateOf(stage, TENSORFLOW, "other"), "Running");
};

/** A pod that lost its labels is replaced. */
export const lostLabels: Scenario = async (stage) => {
  await stage.start(kubeflowOperator);
  await stage.apply(job(TENSORFLOW, "marked", { Worker: { replicas: 2 } }));
  await untilState(stage, TENSORFLOW, "marked", "Running");
  const before = await stage.get(Pod, "marked-worker-1");
  await stage.client.patch(Pod, `${stage.namespace}/marked-worker-1`, {
    merge: { metadata: { labels: { "training.kubeflow.org/operator-name": null } } },
  } as never);
  await stage.until("it is another one", async () => {
    const pod = await stage.find(Pod, "marked-worker-1");
    return pod !== undefined && pod.metadata.uid !== before.metadata.uid && pod.status?.phase === "Running";
  });
  await untilState(stage, TENSORFLOW, "marked", "Running");
};
