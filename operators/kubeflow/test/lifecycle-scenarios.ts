import assert from "node:assert/strict";
import { kubeflowOperator } from "@konverge/kubeflow-operator";
import type { Scenario } from "@konverge/operator-suite";
import { Deployment, HorizontalPodAutoscaler, Pod, Service } from "konverge/kinds";
import {
  change,
  endPod,
  envOf,
  job,
  type Kind,
  MXNET,
  namesOf,
  PYTORCH,
  podsOf,
  sample,
  stateOf,
  TENSORFLOW,
  untilState,
  XGBOOST,
} from "./jobs.ts";

/** A master and workers, under upstream's names, labels, ports and variables, done when the master is. */
export const aPyTorchJob: Scenario = async (stage) => {
  await stage.start(kubeflowOperator);
  await stage.apply(sample("01-pytorchjob.yaml"));
  await untilState(stage, PYTORCH, "fashion-mnist", "Running");
  const names = ["fashion-mnist-master-0", "fashion-mnist-worker-0", "fashion-mnist-worker-1"];
  assert.deepEqual(namesOf(await podsOf(stage, "fashion-mnist")), names);
  assert.deepEqual(namesOf(await stage.list(Service, "training.kubeflow.org/job-name=fashion-mnist")), names);
  const worker = await stage.get(Pod, "fashion-mnist-worker-1");
  assert.deepEqual(worker.metadata.labels, {
    "training.kubeflow.org/job-name": "fashion-mnist",
    "training.kubeflow.org/operator-name": "pytorchjob-controller",
    "training.kubeflow.org/replica-index": "1",
    "training.kubeflow.org/replica-type": "worker",
  });
  assert.deepEqual(envOf(worker), {
    PYTHONUNBUFFERED: "1",
    MASTER_PORT: "23456",
    PET_MASTER_PORT: "23456",
    MASTER_ADDR: "fashion-mnist-master-0",
    PET_MASTER_ADDR: "fashion-mnist-master-0",
    WORLD_SIZE: "3",
    RANK: "2",
    PET_NODE_RANK: "2",
    PET_NPROC_PER_NODE: "auto",
    PET_NNODES: "3",
  });
  const { spec } = await stage.get(Service, "fashion-mnist-master-0");
  assert.equal(spec?.clusterIP, "None");
  assert.deepEqual(
    spec?.ports?.map(({ name, port }) => `${name} ${port}`),
    ["pytorchjob-port 23456"],
  );
  await stage.until("the workers have found their master", async () => {
    return (await podsOf(stage, "fashion-mnist")).every((pod) => pod.status?.phase === "Running");
  });
  await endPod(stage, "fashion-mnist-master-0", 0);
  await untilState(stage, PYTORCH, "fashion-mnist", "Succeeded");
  const { status } = await stage.get(PYTORCH.kind, "fashion-mnist");
  assert.deepEqual(
    status?.conditions?.map(({ type, status: is, reason }) => `${type} ${is} ${reason}`),
    ["Created True PyTorchJobCreated", "Running False PyTorchJobRunning", "Succeeded True PyTorchJobSucceeded"],
  );
  assert.ok(status?.completionTime);
  await stage.until("what still ran counts as done", async () => {
    const { replicaStatuses } = (await stage.get(PYTORCH.kind, "fashion-mnist")).status ?? {};
    return replicaStatuses?.["Worker"]?.succeeded === 2 && replicaStatuses["Worker"].active === undefined;
  });
};

/** Each kind: runs, loses a pod and a Service, is suspended and resumed, completes, is cleaned up, and expires. */
export const aLifeOf =
  (kind: Kind): Scenario =>
  async (stage) => {
    await stage.start(kubeflowOperator);
    const replicas = { [kind.lead]: { restartPolicy: "ExitCode" }, Worker: { replicas: 2, restartPolicy: "ExitCode" } };
    const seconds = stage.where === "embedded" ? 600 : 20;
    const spec = { runPolicy: { cleanPodPolicy: "All", ttlSecondsAfterFinished: seconds } };
    await stage.apply(job(kind, "life", replicas, spec));
    await untilState(stage, kind, "life", "Running");
    const lead = `life-${kind.lead.toLowerCase()}-0`;

    const before = await stage.get(Pod, "life-worker-1");
    await endPod(stage, "life-worker-1", 137);
    await stage.until("the worker is another one, and runs", async () => {
      const pod = await stage.find(Pod, "life-worker-1");
      return pod?.status?.phase === "Running" && pod.metadata.uid !== before.metadata.uid;
    });
    await untilState(stage, kind, "life", "Running");
    await stage.client.delete(Service, `${stage.namespace}/life-worker-0`);
    await stage.until("the Service is there again", async () => !!(await stage.find(Service, "life-worker-0")));
    await stage.client.patch(Service, `${stage.namespace}/life-worker-0`, {
      merge: { spec: { selector: { "training.kubeflow.org/replica-index": "9" } } },
    } as never);
    await stage.until("it selects its pod again", async () => {
      const { spec: now } = await stage.get(Service, "life-worker-0");
      return now?.selector?.["training.kubeflow.org/replica-index"] === "0";
    });

    await change(stage, kind, "life", { runPolicy: { suspend: true } });
    await untilState(stage, kind, "life", "Suspended");
    await stage.until("all pods are gone", async () => (await podsOf(stage, "life")).length === 0);
    await change(stage, kind, "life", { runPolicy: { suspend: false } });
    await untilState(stage, kind, "life", "Running");

    await endPod(stage, lead, 0);
    await untilState(stage, kind, "life", "Succeeded");
    await stage.until("pods and Services are gone", async () => {
      const services = await stage.list(Service, "training.kubeflow.org/job-name=life");
      return services.length === 0 && (await podsOf(stage, "life")).length === 0;
    });
    await stage.advance((seconds - 10) * 1000);
    assert.equal(await stateOf(stage, kind, "life"), "Succeeded");
    await stage.until("the job is gone", async () => !(await stage.find(kind.kind, "life")));
  };

/** A fatal exit code ends a job of any kind, and the job says when. */
export const aFatalEnd: Scenario = async (stage) => {
  await stage.start(kubeflowOperator);
  for (const kind of [PYTORCH, TENSORFLOW, XGBOOST, MXNET]) {
    const name = `fatal-${kind.container}`;
    const replicas = { [kind.lead]: { restartPolicy: "ExitCode" }, Worker: { restartPolicy: "ExitCode" } };
    await stage.apply(job(kind, name, replicas, { runPolicy: { ttlSecondsAfterFinished: 60 } }));
    await untilState(stage, kind, name, "Running");
    await endPod(stage, `${name}-worker-0`, 1);
    await untilState(stage, kind, name, "Failed");
    const { status } = await stage.get(kind.kind, name);
    assert.equal(status?.conditions?.at(-1)?.message, `job "${name}" is failing because "Worker" replica(s) failed.`);
    assert.ok(status?.completionTime);
    await stage.until("it goes by itself", async () => !(await stage.find(kind.kind, name)));
  }
};

/** A job that takes too long, and one that restarts too often, keep no pods. */
export const limits: Scenario = async (stage) => {
  await stage.start(kubeflowOperator);
  await stage.apply(job(PYTORCH, "late", { Master: {}, Worker: {} }, { runPolicy: { activeDeadlineSeconds: 3600 } }));
  await untilState(stage, PYTORCH, "late", "Running");
  await stage.advance(3_500_000);
  assert.equal(await stateOf(stage, PYTORCH, "late"), "Running");
  await untilState(stage, PYTORCH, "late", "Failed");
  const { status } = await stage.get(PYTORCH.kind, "late");
  assert.match(status?.conditions?.at(-1)?.message ?? "", /active longer than specified deadline$/);
  await stage.until("its pods are gone", async () => (await podsOf(stage, "late")).length === 0);

  await stage.apply(
    job(XGBOOST, "again", { Master: { restartPolicy: "OnFailure" } }, { runPolicy: { backoffLimit: 2 } }),
  );
  await untilState(stage, XGBOOST, "again", "Running");
  await stage.client.patchStatus(Pod, `${stage.namespace}/again-master-0`, {
    merge: {
      status: {
        containerStatuses: [
          { name: "xgboost", image: "x", imageID: "", ready: true, restartCount: 2, state: { running: {} } },
        ],
      },
    },
  } as never);
  await untilState(stage, XGBOOST, "again", "Failed");
  await stage.until("its pods are gone too", async () => (await podsOf(stage, "again")).length === 0);
};

/** An elastic job has an autoscaler, `kubectl scale` works, and Services follow the number of workers. */
export const elastic: Scenario = async (stage) => {
  await stage.start(kubeflowOperator);
  await stage.apply(sample("02-pytorchjob-elastic.yaml"));
  await untilState(stage, PYTORCH, "resnet-elastic", "Running");
  const env = envOf(await stage.get(Pod, "resnet-elastic-worker-1"));
  assert.equal(env["PET_NNODES"], "1:4");
  assert.equal(env["PET_RDZV_ENDPOINT"], "resnet-elastic-worker-0:29400");
  assert.equal(env["PET_RDZV_CONF"], "timeout=900");
  assert.equal(env["MASTER_ADDR"], undefined);
  const { spec } = await stage.get(HorizontalPodAutoscaler, "resnet-elastic");
  assert.deepEqual([spec?.minReplicas, spec?.maxReplicas, spec?.scaleTargetRef.kind], [1, 4, "PyTorchJob"]);
  const key = `${stage.namespace}/resnet-elastic` as const;
  await stage.client.scale(PYTORCH.kind, key, 3);
  await stage.until("three run", async () => {
    const { replicaStatuses } = (await stage.get(PYTORCH.kind, "resnet-elastic")).status ?? {};
    return replicaStatuses?.["Worker"]?.active === 3;
  });
  const scale = await stage.client.getScale(PYTORCH.kind, key);
  assert.equal(scale.status?.replicas, 3);
  assert.match(scale.status?.selector ?? "", /training\.kubeflow\.org\/replica-type=worker/);
  await stage.client.scale(PYTORCH.kind, key, 1);
  await stage.until("one is left", async () => {
    const services = await stage.list(Service, "training.kubeflow.org/job-name=resnet-elastic");
    return services.length === 1 && (await podsOf(stage, "resnet-elastic")).length === 1;
  });
  await change(stage, PYTORCH, "resnet-elastic", { runPolicy: { suspend: true } });
  await stage.until("the autoscaler rests too", async () => {
    return !(await stage.find(HorizontalPodAutoscaler, "resnet-elastic"));
  });
};

/** Where upstream's operator is installed, nothing is changed; after its removal, its jobs are reconciled. */
export const upstreamIsThere: Scenario = async (stage) => {
  const labels = { "control-plane": "kubeflow-training-operator" };
  await stage.apply({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "training-operator", labels },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: "manager", image: "kubeflow/training-operator" }] },
      },
    },
  });
  await stage.start(kubeflowOperator);
  await stage.apply(sample("01-pytorchjob.yaml"));
  await stage.until("it is reported", async () => {
    return (await stage.events(PYTORCH.kind, "fashion-mnist")).some((text) =>
      /UpstreamOperator .*ignores them/.test(text),
    );
  });
  assert.deepEqual(await podsOf(stage, "fashion-mnist"), []);
  assert.equal((await stage.get(PYTORCH.kind, "fashion-mnist")).status, undefined);
  await stage.client.delete(Deployment, `${stage.namespace}/training-operator`);
  await stage.until("it runs", async () => (await stateOf(stage, PYTORCH, "fashion-mnist")) === "Running", 900_000);
};

/** A job with another manager is ignored. */
export const managedByOthers: Scenario = async (stage) => {
  await stage.start(kubeflowOperator);
  const spec = { runPolicy: { managedBy: "kueue.x-k8s.io/multikueue" } };
  await stage.apply(job(PYTORCH, "theirs", { Master: {} }, spec));
  await stage.settled();
  assert.deepEqual(await podsOf(stage, "theirs"), []);
  await assert.rejects(
    change(stage, PYTORCH, "theirs", { runPolicy: { managedBy: "kubeflow.org/training-operator" } }),
    /immutable/,
  );
};
