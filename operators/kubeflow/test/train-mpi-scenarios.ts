import assert from "node:assert/strict";
import { kubeflowOperator, TrainJob } from "@konverge/kubeflow-operator";
import type { Scenario, TestEnvironment } from "@konverge/operator-suite";
import { Job as BatchJob, ConfigMap, Pod, Secret } from "konverge/kinds";
import { endPod, runMpi } from "./jobs.ts";
import {
  conditions,
  IMAGE,
  podsOf,
  running,
  runtime,
  start,
  step,
  suspend,
  trainJob,
  until,
  variablesOf,
} from "./train-scenarios.ts";

/** Nodes wait for connections; when they are ready, the launcher starts processes on them, and its end is that of the job. */
const mpiRuntime = (mpi: object = {}, launcher: object = {}) => {
  const dependsOn = [{ name: "node", status: "Ready" }];
  const first = step("launcher", "trainer", { dependsOn }, { name: "node", command: ["mpirun"] });
  Object.assign(first.template.spec, launcher);
  return runtime("mpi", {
    mlPolicy: { numNodes: 1, mpi: { sshAuthMountPath: "/home/mpiuser/.ssh", runLauncherAsNode: true, ...mpi } },
    template: {
      spec: {
        successPolicy: { operator: "All", targetReplicatedJobs: ["launcher"] },
        replicatedJobs: [step("node", undefined, {}, { command: ["/usr/sbin/sshd", "-De"] }), first],
      },
    },
  });
};
const pi = (spec: object = {}) =>
  trainJob("pi", { runtimeRef: { name: "mpi" }, trainer: { numNodes: 3, numProcPerNode: 2 }, ...spec });

/** Ends the launcher, also one that replaces a deleted one. */
const endLauncher = (stage: TestEnvironment, exitCode: number, wanted: string) =>
  stage.until(`the launcher ends and pi is ${wanted}`, async () => {
    for (const pod of await podsOf(stage, "pi", "launcher")) await endPod(stage, pod.metadata.name, exitCode);
    return (await conditions(stage, "pi")).some(({ type, status }) => type === wanted && status === "True");
  });
const nothingRuns = (stage: TestEnvironment) =>
  stage.until("nothing runs", async () =>
    (await stage.list(Pod)).every(({ status }) => status?.phase === "Succeeded" || status?.phase === "Failed"),
  );
const mountsOf = (pod: Pod | undefined) =>
  pod?.spec?.containers[0]?.volumeMounts?.flatMap(({ mountPath }) => (/^\/var/.test(mountPath) ? [] : mountPath));

/** Keys, hosts, mounts and variables under upstream's names. */
export const trainJobMpiRunning: Scenario = async (stage) => {
  await start(stage);
  await stage.apply(mpiRuntime());
  await stage.apply(pi());
  await running(stage, "pi", 2);
  await running(stage, "pi", 1, "launcher");
  const { data: hosts } = await stage.get(ConfigMap, "pi-mpi-hostfile");
  assert.deepEqual(hosts, {
    hostfile: "pi-node-0-0.pi slots=2\npi-node-0-1.pi slots=2\npi-launcher-0-0 slots=2\n",
  });
  const keys = await stage.get(Secret, "pi-mpi-ssh-auth");
  assert.deepEqual([keys.type, keys.immutable], ["kubernetes.io/ssh-auth", true]);
  const [node] = await podsOf(stage, "pi");
  assert.deepEqual(mountsOf(node), ["/home/mpiuser/.ssh"]);
  assert.deepEqual(variablesOf(node), []);
  const [launcher] = await podsOf(stage, "pi", "launcher");
  assert.deepEqual(mountsOf(launcher), ["/home/mpiuser/.ssh", "/etc/mpi"]);
  assert.deepEqual(variablesOf(launcher).sort(), [
    "OMPI_MCA_orte_default_hostfile=/etc/mpi/hostfile",
    "OMPI_MCA_orte_keep_fqdn_hostnames=true",
    "OMPI_MCA_orte_set_default_slots=2",
    "OMPI_MCA_plm_rsh_args=-o ConnectionAttempts=10",
  ]);
};

/** The end of the launcher is that of the job. */
export const trainJobMpi: Scenario = async (stage) => {
  await trainJobMpiRunning(stage);
  await endLauncher(stage, 0, "Complete");
  await nothingRuns(stage);
  await stage.settled();
  assert.ok(await stage.find(BatchJob, "pi-launcher-0"), "the launcher stays, with its logs");
  assert.equal(await stage.find(BatchJob, "pi-node-0"), undefined);
};

/** The job completes when its launcher exits. */
export const trainJobMpiEnds: Scenario = async (stage) => {
  runMpi(stage, IMAGE);
  await stage.start(kubeflowOperator);
  await stage.apply(mpiRuntime());
  await stage.apply(pi());
  await until(stage, "pi", "Complete");
  await nothingRuns(stage);
  await stage.settled();
};

/** The launcher waits for all nodes; a job that is suspended keeps its keys and hosts, and goes with all it has. */
export const trainJobMpiSuspended: Scenario = async (stage) => {
  await start(stage);
  await stage.apply(mpiRuntime({ runLauncherAsNode: false }));
  await stage.apply(pi({ suspend: true }));
  await until(stage, "pi", "Suspended", "Suspended");
  await stage.settled();
  assert.equal((await stage.list(BatchJob)).length, 0);
  const { data: keys } = await stage.get(Secret, "pi-mpi-ssh-auth");
  const { data: hosts } = await stage.get(ConfigMap, "pi-mpi-hostfile");
  assert.equal(hosts?.["hostfile"]?.match(/pi-node-0-\d\.pi slots=2\n/g)?.length, 3);
  await suspend(stage, "pi", false);
  await running(stage, "pi", 3);
  await running(stage, "pi", 1, "launcher");
  await suspend(stage, "pi", true);
  await nothingRuns(stage);
  await suspend(stage, "pi", false);
  await running(stage, "pi", 1, "launcher");
  assert.deepEqual((await stage.get(Secret, "pi-mpi-ssh-auth")).data, keys, "pods have the same keys");
  await stage.client.delete(TrainJob, `${stage.namespace}/pi`);
  await stage.until("nothing is left", async () => {
    const left = [await stage.list(Pod), await stage.list(BatchJob), await stage.list(Secret)].flat();
    return left.length === 0 && (await stage.find(ConfigMap, "pi-mpi-hostfile")) === undefined;
  });
};

/** A suspended job has its keys and hosts. */
export const trainJobMpiResting: Scenario = async (stage) => {
  await start(stage);
  await stage.apply(mpiRuntime());
  await stage.apply(pi({ suspend: true }));
  await until(stage, "pi", "Suspended");
  await stage.settled();
};

/** Keys that lose the labels by which the operator finds its objects get them back, and stay: pods have them already. */
export const keysStay =
  (resting: Scenario, name: string): Scenario =>
  async (stage) => {
    await resting(stage);
    const label = "training.kubeflow.org/operator-name";
    const before = await stage.get(Secret, name);
    const labels = { [label]: null };
    await stage.client.patch(Secret, `${stage.namespace}/${name}`, { merge: { metadata: { labels } } } as never);
    await stage.until("it has its label", async () => {
      const { metadata } = await stage.get(Secret, name);
      return metadata.labels?.[label] === before.metadata.labels?.[label];
    });
    assert.deepEqual((await stage.get(Secret, name)).data, before.data);
  };

/** A launcher that fails too often fails the job, and the nodes go. */
export const trainJobMpiFails: Scenario = async (stage) => {
  await start(stage);
  await stage.apply(mpiRuntime({}, { backoffLimit: 0 }));
  await stage.apply(pi());
  await running(stage, "pi", 1, "launcher");
  await endLauncher(stage, 1, "Failed");
  const [failed] = (await conditions(stage, "pi")).slice(-1);
  assert.equal(failed?.message, "jobset failed due to one or more job failures (first failed job: pi-launcher-0)");
  await nothingRuns(stage);
};
