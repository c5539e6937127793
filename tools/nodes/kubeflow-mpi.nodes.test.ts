import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { Pod } from "@konverge/kinds";
import { ClusterTrainingRuntime, MPIJob, TrainJob } from "@konverge/kubeflow-operator";
import { openmpi } from "./images/openmpi.ts";
import { NodeCluster } from "./node-cluster.ts";
import { RESTRICTED } from "./pods.ts";
import { whyNoRealNodes } from "./requirements.ts";
import { timed, until } from "./waiting.ts";

const NAMESPACE = "jobs";
const IMAGE = "mpioperator/openmpi:4.1";
const KEYS = "/home/mpiuser/.ssh";
const PROGRAM = readFileSync(new URL("programs/allreduce.py", import.meta.url), "utf8");
const SSH_SERVER = ["/usr/sbin/sshd", "-De", "-f", "/home/mpiuser/.sshd_config"];
/** As many ranks as there are slots, which add vectors this number of times. */
const mpirun = (rounds: number, pause = 0) => ["mpirun", "python3", "-c", PROGRAM, String(rounds), String(pause)];
const mpiPod = (name: string, command: readonly string[], more: object = {}) => ({
  terminationGracePeriodSeconds: 0,
  containers: [{ name, image: IMAGE, command: [...command], securityContext: RESTRICTED, ...more }],
});

/** Open MPI 4.1 starts ranks over OpenSSH in pods of the operator, without root. */
describe("kubeflow's MPI on real nodes", { skip: whyNoRealNodes() }, () => {
  let cluster: NodeCluster;

  before(async () => {
    cluster = await NodeCluster.start({ name: "lane-kubeflow-mpi", images: [openmpi] });
    for (const name of [NAMESPACE, "operators"]) await cluster.restrictedNamespace(name);
    cluster.deploy("kubeflow-operator", "operators");
    await cluster.client.create(ClusterTrainingRuntime, {
      metadata: { name: "openmpi" },
      spec: RUNTIME as unknown as ClusterTrainingRuntime["spec"],
    });
  });
  after(async () => await cluster?.stop());

  const podsWith = async (...labels: string[]) =>
    (await cluster.client.list(Pod, { namespace: NAMESPACE, labelSelector: labels.join(",") })).items;
  /** Launcher and workers of a job, by the labels of its kind. */
  const mpiPods = (name: string, role: "launcher" | "worker") =>
    podsWith(`training.kubeflow.org/job-name=${name}`, `training.kubeflow.org/job-role=${role}`);
  const trainPods = (name: string, step: "launcher" | "node") =>
    podsWith(`jobset.sigs.k8s.io/jobset-name=${name}`, `jobset.sigs.k8s.io/replicatedjob-name=${step}`);
  const logOf = async (pod: Pod | undefined) => (await cluster.log(`${NAMESPACE}/${pod!.metadata.name}`)).join("\n");
  const restartsOf = (pod: Pod | undefined) => pod?.status?.containerStatuses?.[0]?.restartCount ?? 0;
  /** The hosts of the ranks in a launcher's log, each once. */
  const hostsIn = (log: string) =>
    [...new Set([...log.matchAll(/^rank \d of \d runs on (\S+)$/gm)].map(([, host]) => host!))].sort();
  const nodesOf = (pods: readonly Pod[]) => new Set(pods.map(({ spec }) => spec?.nodeName)).size;

  /** As a user writes it: fields with defaults are left to the server. */
  const createMpiJob = (name: string, launcher: readonly string[], worker: object = {}, policy: object = {}) =>
    cluster.client.create(MPIJob, {
      metadata: { name, namespace: NAMESPACE },
      spec: {
        slotsPerWorker: 2,
        runPolicy: { cleanPodPolicy: "Running", ...policy },
        sshAuthMountPath: KEYS,
        mpiReplicaSpecs: {
          Launcher: { template: { spec: mpiPod("mpi-launcher", launcher) } },
          Worker: { replicas: 2, template: { spec: mpiPod("mpi-worker", SSH_SERVER) }, ...worker },
        },
      } as unknown as MPIJob["spec"],
    });
  const createTrainJob = (name: string, command: readonly string[]) =>
    cluster.client.create(TrainJob, {
      metadata: { name, namespace: NAMESPACE },
      spec: {
        runtimeRef: { name: "openmpi" },
        trainer: { numNodes: 3, numProcPerNode: 1, command: [...command] },
      } as unknown as TrainJob["spec"],
    });
  const ends = (kind: typeof MPIJob | typeof TrainJob, name: string, type: "Succeeded" | "Failed" | "Complete") =>
    until(`${name} is ${type}`, 240, async () => {
      const { status } = await cluster.client.get(kind as typeof MPIJob, `${NAMESPACE}/${name}`);
      if (status?.conditions?.some((one) => one.type === type && one.status === "True")) return true;
      throw new Error(JSON.stringify(status));
    });
  const reaches = (round: number, launcher: () => Promise<readonly Pod[]>) =>
    until(`round ${round} is done`, 120, async () =>
      (await logOf((await launcher())[0])).includes(`round ${round}:`) ? true : undefined,
    );
  const untilDeleted = (pods: () => Promise<readonly Pod[]>) =>
    until("the pods that waited for connections are deleted", 60, async () =>
      (await pods()).length === 0 ? true : undefined,
    );

  test("the launcher of an MPIJob starts ranks in two workers, which add vectors, and the workers are deleted", async (t) => {
    let workers: readonly Pod[] = [];
    const runs = async () => {
      await createMpiJob("sum", mpirun(10, 0.2));
      await until("the workers have nodes", 60, async () => {
        workers = await mpiPods("sum", "worker");
        return workers.length === 2 && workers.every(({ spec }) => spec?.nodeName) ? true : undefined;
      });
      await ends(MPIJob, "sum", "Succeeded");
    };
    t.diagnostic(`succeeded after ${await timed(runs)} s`);
    const [launcher] = await mpiPods("sum", "launcher");
    t.diagnostic(`the launcher was restarted ${restartsOf(launcher)} times`);
    const log = await logOf(launcher);
    assert.deepEqual(hostsIn(log), ["sum-worker-0", "sum-worker-1"], log);
    assert.match(log, /^round 9: the sum of 4 ranks is 46$/m);
    assert.equal(nodesOf(workers), 2, "the workers ran on both nodes");
    await untilDeleted(() => mpiPods("sum", "worker"));
  });

  test("a worker of an MPIJob is killed: the launcher fails and starts the ranks again when the worker is back", async (t) => {
    await createMpiJob("killed", mpirun(60, 0.2), { restartPolicy: "OnFailure" });
    await reaches(10, () => mpiPods("killed", "launcher"));
    const before = restartsOf((await mpiPods("killed", "launcher"))[0]);
    await cluster.killContainer(`${NAMESPACE}/killed-worker-1`, "mpi-worker");
    const again = async () => {
      await until("the launcher is restarted", 120, async () =>
        restartsOf((await mpiPods("killed", "launcher"))[0]) > before ? true : undefined,
      );
      await reaches(0, () => mpiPods("killed", "launcher"));
    };
    t.diagnostic(`ranks run again ${await timed(again)} s after the kill`);
    const worker = (await mpiPods("killed", "worker")).find(({ metadata }) => metadata.name === "killed-worker-1");
    assert.equal(restartsOf(worker), 1, "the worker's container was restarted in its pod");
    await ends(MPIJob, "killed", "Succeeded");
    assert.match(await logOf((await mpiPods("killed", "launcher"))[0]), /^round 59: the sum of 4 ranks is 246$/m);
    await untilDeleted(() => mpiPods("killed", "worker"));
  });

  test("a worker with the default policy Never is killed: it stays failed, and the job fails with its launcher", async (t) => {
    await createMpiJob("never", mpirun(60, 0.2), {}, { backoffLimit: 2 });
    await reaches(10, () => mpiPods("never", "launcher"));
    await cluster.killContainer(`${NAMESPACE}/never-worker-1`, "mpi-worker");
    t.diagnostic(`failed ${await timed(() => ends(MPIJob, "never", "Failed"))} s after the kill`);
    const { status } = await cluster.client.get(MPIJob, `${NAMESPACE}/never`);
    assert.equal(status?.conditions?.find(({ type }) => type === "Failed")?.reason, "BackoffLimitExceeded");
    await until("only the failed worker is left", 60, async () => {
      const left = await mpiPods("never", "worker");
      return left.length === 1 && left[0]!.status?.phase === "Failed" ? true : undefined;
    });
  });

  test("the launcher of a TrainJob starts ranks in two nodes and in itself, and the nodes are deleted", async (t) => {
    let nodes: readonly Pod[] = [];
    const runs = async () => {
      await createTrainJob("train", mpirun(10, 0.2));
      await until("the nodes are there", 60, async () => {
        nodes = await trainPods("train", "node");
        return nodes.length === 2 && nodes.every(({ spec }) => spec?.nodeName) ? true : undefined;
      });
      await ends(TrainJob, "train", "Complete");
    };
    t.diagnostic(`complete after ${await timed(runs)} s`);
    const [launcher] = await trainPods("train", "launcher");
    const log = await logOf(launcher);
    assert.deepEqual(hostsIn(log), ["train-launcher-0-0", "train-node-0-0", "train-node-0-1"], log);
    assert.match(log, /^round 9: the sum of 3 ranks is 33$/m);
    assert.equal(nodesOf(nodes), 2, "they ran on both nodes of the cluster");
    assert.equal(restartsOf(launcher), 0, "the launcher started when it could connect");
    await untilDeleted(() => trainPods("train", "node"));
  });

  test("a node of a TrainJob is killed: it and the launcher are restarted in their pods, and the job completes", async (t) => {
    await createTrainJob("again", mpirun(60, 0.2));
    await reaches(10, () => trainPods("again", "launcher"));
    const nodes = await trainPods("again", "node");
    const killed = nodes.find(({ spec }) => spec?.hostname === "again-node-0-1")!.metadata.name!;
    await cluster.killContainer(`${NAMESPACE}/${killed}`, "node");
    const runsAgain = async () => {
      await until("the launcher is restarted", 120, async () =>
        restartsOf((await trainPods("again", "launcher"))[0]) > 0 ? true : undefined,
      );
      await reaches(0, () => trainPods("again", "launcher"));
    };
    t.diagnostic(`ranks run again ${await timed(runsAgain)} s after the kill`);
    assert.equal(restartsOf(await cluster.client.get(Pod, `${NAMESPACE}/${killed}`)), 1);
    await ends(TrainJob, "again", "Complete");
    assert.match(await logOf((await trainPods("again", "launcher"))[0]), /^round 59: the sum of 3 ranks is 183$/m);
    await untilDeleted(() => trainPods("again", "node"));
  });
});

/** Pods that wait for connections, and a launcher, which starts ranks in them and in itself. */
const RUNTIME = {
  mlPolicy: { numNodes: 1, mpi: { mpiImplementation: "OpenMPI", sshAuthMountPath: KEYS, runLauncherAsNode: true } },
  template: {
    spec: {
      successPolicy: { operator: "All", targetReplicatedJobs: ["launcher"] },
      replicatedJobs: [
        trainStep("node", SSH_SERVER, { readinessProbe: { tcpSocket: { port: 2222 }, periodSeconds: 1 } }),
        {
          ...trainStep("launcher", ["mpirun"], {}, { "trainer.kubeflow.org/trainjob-ancestor-step": "trainer" }),
          dependsOn: [{ name: "node", status: "Ready" }],
        },
      ],
    },
  },
};

function trainStep(name: string, command: readonly string[], more: object, labels?: Record<string, string>) {
  const pod = { ...mpiPod("node", command, more), securityContext: { fsGroup: 1000 } };
  return { name, template: { ...(labels && { metadata: { labels } }), spec: { template: { spec: pod } } } };
}
