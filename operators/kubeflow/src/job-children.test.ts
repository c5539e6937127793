import assert from "node:assert/strict";
import { test } from "node:test";
import { hasPodFeatures, podFeatures } from "@konverge/operator-suite";
import { boost, boostJob, flow, flowJob, mx, mxJob, torch, torchJob } from "../test/framework-jobs.ts";
import type { Framework } from "./framework.ts";
import type { Job, JobObject } from "./job.ts";
import { membersOfJob, podFor, serviceFor } from "./job-children.ts";
import { tensorflow } from "./tf-framework.ts";

function pods<T extends JobObject>(job: Job<T>, framework: Framework<T>) {
  return Object.fromEntries(
    membersOfJob(job).map((member) => {
      const pod = podFor(job, member, framework);
      return [pod.metadata.name, pod];
    }),
  );
}

function envs<T extends JobObject>(job: Job<T>, framework: Framework<T>) {
  return Object.fromEntries(
    Object.entries(pods(job, framework)).map(([name, { spec }]) => {
      const env = spec!.containers[0]!.env ?? [];
      return [name, Object.fromEntries(env.map((one) => [one.name, one.value]))];
    }),
  );
}

test("types of replicas may be written in any case", () => {
  const job = torchJob({ worker: {}, MASTER: {} });
  assert.deepEqual(Object.keys(pods(job, torch)), ["train-master-0", "train-worker-0"]);
});

test("processes per pod multiply the world", () => {
  const env = envs(torchJob({ Master: {}, Worker: { replicas: 3 } }, { nprocPerNode: "4" }), torch);
  assert.equal(env["train-worker-2"]?.["WORLD_SIZE"], "16");
  assert.equal(env["train-worker-2"]?.["RANK"], "3");
  assert.equal(env["train-master-0"]?.["PET_NPROC_PER_NODE"], "4");
});

test("bounds of an elastic job follow from what is said", () => {
  const nodes = (elasticPolicy: object) =>
    envs(torchJob({ Worker: { replicas: 2 } }, { elasticPolicy }), torch)["train-worker-0"]?.["PET_NNODES"];
  assert.equal(nodes({}), "2:2");
  assert.equal(nodes({ maxReplicas: 5 }), "5:5");
  assert.equal(nodes({ minReplicas: 1 }), "1:1");
  assert.equal(nodes({ minReplicas: 1, maxReplicas: 5 }), "1:5");
});

test("workers wait for their master, masters do not wait", () => {
  const made = pods(torchJob({ Master: {}, Worker: {} }), torch);
  assert.equal(made["train-master-0"]?.spec?.initContainers, undefined);
  const [wait] = made["train-worker-0"]!.spec!.initContainers!;
  assert.equal(wait?.name, "init-pytorch");
  assert.match(wait?.command?.[2] ?? "", /seq 100.*nslookup train-master-0/);
});

test("all replicas of a TFJob know each other by TF_CONFIG, a single one has none", () => {
  const env = envs(flowJob({ Worker: { replicas: 2 }, PS: {} }), flow);
  assert.deepEqual(JSON.parse(env["train-worker-1"]!["TF_CONFIG"]!), {
    cluster: {
      ps: ["train-ps-0.team.svc:2222"],
      worker: ["train-worker-0.team.svc:2222", "train-worker-1.team.svc:2222"],
    },
    task: { type: "worker", index: 1 },
    environment: "cloud",
  });
  assert.deepEqual(envs(flowJob({ Worker: {} }), flow)["train-worker-0"], {});
  const named = envs(flowJob({ Worker: { replicas: 2 } }), tensorflow({ clusterDomain: "cluster.local" }));
  assert.match(named["train-worker-0"]!["TF_CONFIG"]!, /train-worker-1\.team\.svc\.cluster\.local:2222/);
});

test("XGBoost's workers rank after the master", () => {
  const env = envs(boostJob({ Master: {}, Worker: { replicas: 2 } }), boost);
  assert.deepEqual(env["train-worker-1"], {
    MASTER_PORT: "9999",
    MASTER_ADDR: "train-master-0",
    WORLD_SIZE: "3",
    RANK: "2",
    PYTHONUNBUFFERED: "1",
    WORKER_PORT: "9999",
    WORKER_ADDRS: "train-worker-0,train-worker-1",
  });
  assert.equal(envs(boostJob({ Master: {} }), boost)["train-master-0"]?.["WORKER_ADDRS"], undefined);
});

test("MXNet's replicas find their scheduler", () => {
  const env = envs(mxJob({ Scheduler: {}, Server: {}, Worker: { replicas: 2 } }), mx)["train-worker-1"]!;
  assert.equal(env["DMLC_PS_ROOT_URI"], "train-scheduler-0");
  assert.equal(env["DMLC_NUM_WORKER"], "2");
  assert.equal(env["DMLC_WORKER_ID"], "1");
  assert.deepEqual(JSON.parse(env["MX_CONFIG"]!).task, { type: "worker", index: 1 });
});

test("a Service has all ports of the framework's container, and selects its one pod", () => {
  const job = torchJob({
    Master: {
      template: {
        spec: { containers: [{ name: "pytorch", image: "i", ports: [{ name: "metrics", containerPort: 9000 }] }] },
      },
    },
  });
  const { spec } = serviceFor(job, membersOfJob(job)[0]!, torch as unknown as Framework);
  assert.deepEqual(
    spec?.ports?.map(({ name, port }) => `${name} ${port}`),
    ["metrics 9000", "pytorchjob-port 23456"],
  );
  assert.equal(spec?.selector?.["training.kubeflow.org/replica-index"], "0");
});

test("exit codes are judged here, so such pods are not restarted by their node", () => {
  const { spec } = pods(torchJob({ Master: { restartPolicy: "ExitCode" } }), torch)["train-master-0"]!;
  assert.equal(spec?.restartPolicy, "Never");
});

test("templates reach the pods of all frameworks in full", () => {
  const replicaOf = (name: string) => {
    const { container, pod, sidecar } = podFeatures;
    return { template: { spec: { ...pod, containers: [{ name, image: "i", ...container }, sidecar] } } };
  };
  const worker = { Worker: replicaOf("pytorch") };
  hasPodFeatures(pods(torchJob({ Master: {}, ...worker }), torch)["train-worker-0"]?.spec, "pytorch");
  hasPodFeatures(pods(flowJob({ Worker: replicaOf("tensorflow") }), flow)["train-worker-0"]?.spec, "tensorflow");
  hasPodFeatures(pods(boostJob({ Master: replicaOf("xgboost") }), boost)["train-master-0"]?.spec, "xgboost");
  hasPodFeatures(pods(mxJob({ Scheduler: replicaOf("mxnet") }), mx)["train-scheduler-0"]?.spec, "mxnet");
});
