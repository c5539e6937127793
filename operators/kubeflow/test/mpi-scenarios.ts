import assert from "node:assert/strict";
import { kubeflowOperator, MPIJob } from "@konverge/kubeflow-operator";
import type { Scenario, TestEnvironment } from "@konverge/operator-suite";
import { Job as BatchJob, ConfigMap, Deployment, Event, Pod, Secret, Service } from "konverge/kinds";
import { deleteJob, endPod, envOf, namesOf, podsOf, runMpi, sample } from "./jobs.ts";

const PI = sample("09-mpijob.yaml");
const IMAGE = "mpioperator/mpi-pi:openmpi";

/** Launchers and workers run until the test ends them: simulated pods of a Job would complete otherwise. */
async function start(stage: TestEnvironment): Promise<void> {
  stage.cluster?.image(IMAGE, {
    async run({ stop }) {
      await new Promise<void>((resolve) => stop.addEventListener("abort", () => resolve(), { once: true }));
      return 143;
    },
  });
  await stage.start(kubeflowOperator);
}

const state = async (stage: TestEnvironment, name = "pi") =>
  (await stage.find(MPIJob, name))?.status?.conditions?.at(-1)?.type;
const until = (stage: TestEnvironment, wanted: string, name = "pi") =>
  stage.until(`${name} is ${wanted}`, async () => (await state(stage, name)) === wanted);
const launcherPod = async (stage: TestEnvironment) =>
  (await stage.list(Pod, "training.kubeflow.org/job-role=launcher")).find(({ status }) => status?.phase === "Running")!;
/** Ends the launcher, also one that replaced a deleted one. */
const endLauncher = (stage: TestEnvironment, exitCode: number, wanted: string) =>
  stage.until(`the launcher ends and pi is ${wanted}`, async () => {
    const launcher = await launcherPod(stage);
    if (launcher) await endPod(stage, launcher.metadata.name, exitCode);
    return (await state(stage)) === wanted;
  });
const workers = (stage: TestEnvironment) => stage.list(Pod, "training.kubeflow.org/job-role=worker");
const suspend = (stage: TestEnvironment, to: boolean) =>
  stage.client.patch(MPIJob, `${stage.namespace}/pi`, { merge: { spec: { runPolicy: { suspend: to } } } } as never);
const decoded = (text: string | undefined) => Buffer.from(text ?? "", "base64").toString();

/** Workers, hosts, keys and a launcher under upstream's names; the end of the launcher is that of the job. */
export const mpiRuns: Scenario = async (stage) => {
  await start(stage);
  await stage.apply(PI);
  await until(stage, "Running");
  assert.deepEqual(namesOf(await workers(stage)), ["pi-worker-0", "pi-worker-1"]);
  const service = await stage.get(Service, "pi");
  assert.equal(service.spec?.clusterIP, "None");
  const host = (index: number) => `pi-worker-${index}.pi.${stage.namespace}.svc`;
  await stage.until("both workers are found", async () => {
    const { data } = await stage.get(ConfigMap, "pi-config");
    assert.equal(data?.["hostfile"], `${host(0)} slots=1\n${host(1)} slots=1\n`);
    return data?.["discover_hosts.sh"] === `#!/bin/sh\necho ${host(0)}\necho ${host(1)}\n`;
  });
  const keys = await stage.get(Secret, "pi-ssh");
  assert.equal(keys.type, "kubernetes.io/ssh-auth");
  assert.match(decoded(keys.data?.["ssh-privatekey"]), /^-----BEGIN EC PRIVATE KEY-----/);
  assert.match(decoded(keys.data?.["ssh-publickey"]), /^ecdsa-sha2-nistp521 /);
  const launcher = await launcherPod(stage);
  assert.equal(envOf(launcher)["OMPI_MCA_orte_default_hostfile"], "/etc/mpi/hostfile");
  assert.equal(envOf(launcher)["NVIDIA_VISIBLE_DEVICES"] ?? "", "");
  assert.deepEqual(
    launcher.spec?.containers[0]?.volumeMounts?.flatMap(({ mountPath }) => (/^\/var/.test(mountPath) ? [] : mountPath)),
    ["/home/mpiuser/.ssh", "/etc/mpi"],
  );
  const worker = await stage.get(Pod, "pi-worker-0");
  assert.equal(worker.spec?.hostname, "pi-worker-0");
  assert.equal(worker.spec?.subdomain, "pi");
  assert.equal(envOf(worker)["K_MPI_JOB_ROLE"], "worker");
  await endLauncher(stage, 0, "Succeeded");
  await stage.until("the workers are gone", async () => (await workers(stage)).length === 0);
  const { status } = await stage.get(MPIJob, "pi");
  assert.equal(status?.replicaStatuses?.["Launcher"]?.succeeded, 1);
  assert.ok(status?.completionTime);
  await stage.get(BatchJob, "pi-launcher");
  await stage.settled();
  assert.deepEqual((await stage.get(Secret, "pi-ssh")).data, keys.data);
};

/** What has ended is not launched again when its Job is deleted; its other objects are still repaired. */
export const mpiDeletedAfterItsEnd: Scenario = async (stage) => {
  await mpiRuns(stage);
  await deleteJob(stage, "pi-launcher");
  await stage.until("the launcher is gone", async () => (await stage.list(Pod)).length === 0);
  await stage.client.delete(ConfigMap, `${stage.namespace}/pi-config`);
  await stage.until("its hosts are back", async () => (await stage.find(ConfigMap, "pi-config")) !== undefined);
  await stage.settled();
  assert.equal(await stage.find(BatchJob, "pi-launcher"), undefined);
  assert.equal((await stage.get(MPIJob, "pi")).status?.conditions?.at(-1)?.type, "Succeeded");
};

/** It runs, all its pods with it. */
export const mpiRunning: Scenario = async (stage) => {
  await start(stage);
  await stage.apply(PI);
  await until(stage, "Running");
  await stage.settled();
};

/** The job completes when its launcher exits. */
export const mpiEnds: Scenario = async (stage) => {
  runMpi(stage, IMAGE);
  await stage.start(kubeflowOperator);
  await stage.apply(PI);
  await until(stage, "Succeeded");
  await stage.until("the workers are gone", async () => (await workers(stage)).length === 0);
  await stage.settled();
};

/** A suspended job has neither launcher nor workers; what it is resumed with counts. */
export const mpiSuspended: Scenario = async (stage) => {
  await start(stage);
  await stage.apply(PI.replace("runPolicy:\n", "runPolicy:\n    suspend: true\n"));
  await until(stage, "Suspended");
  await stage.settled();
  assert.equal((await podsOf(stage, "pi")).length, 0);
  assert.equal(await stage.find(BatchJob, "pi-launcher"), undefined);
  await suspend(stage, false);
  await until(stage, "Running");
  await suspend(stage, true);
  await stage.until("nothing runs", async () => (await podsOf(stage, "pi")).length === 0);
  await stage.client.patch(MPIJob, `${stage.namespace}/pi`, {
    merge: { spec: { slotsPerWorker: 3, runPolicy: { suspend: false } } },
  } as never);
  await until(stage, "Running");
  assert.equal(envOf(await launcherPod(stage))["OMPI_MCA_orte_set_default_slots"], "3");
  await stage.client.delete(MPIJob, `${stage.namespace}/pi`);
  await stage.until("nothing is left", async () => {
    const left = [await stage.list(Pod), await stage.list(BatchJob), await stage.list(Secret)].flat();
    return left.length === 0;
  });
};

/** A launcher that fails too often fails the job; its reason and message are the job's. */
export const mpiFails: Scenario = async (stage) => {
  await start(stage);
  const never = PI.replace("Launcher:\n", "Launcher:\n      restartPolicy: Never\n");
  await stage.apply(never.replace("cleanPodPolicy: Running", "cleanPodPolicy: All\n    backoffLimit: 0"));
  await until(stage, "Running");
  await endPod(stage, (await launcherPod(stage)).metadata.name, 1);
  await until(stage, "Failed");
  const { status } = await stage.get(MPIJob, "pi");
  assert.equal(status?.conditions?.at(-1)?.reason, "BackoffLimitExceeded");
  assert.equal(status?.replicaStatuses?.["Launcher"]?.failed, 1);
  await stage.until("the workers are gone", async () => (await workers(stage)).length === 0);
};

/** A worker that is deleted comes back; one that was evicted ends the job, and its launcher with it. */
export const mpiWorkers: Scenario = async (stage) => {
  await start(stage);
  await stage.apply(PI);
  await until(stage, "Running");
  const before = (await stage.get(Pod, "pi-worker-1")).metadata.uid;
  await stage.client.delete(Pod, `${stage.namespace}/pi-worker-1`);
  await stage.until("another worker runs", async () => {
    const pod = await stage.find(Pod, "pi-worker-1");
    return pod?.status?.phase === "Running" && pod.metadata.uid !== before;
  });
  await stage.client.patchStatus(Pod, `${stage.namespace}/pi-worker-0`, {
    merge: { status: { phase: "Failed", reason: "Evicted", message: "The node was low on resource: memory." } },
  });
  await until(stage, "Failed");
  const { status } = await stage.get(MPIJob, "pi");
  assert.equal(status?.conditions?.at(-1)?.reason, "MPIJobEvicted");
  assert.equal(status?.conditions?.at(-1)?.message, "1/2 workers are evicted");
  await stage.until("no launcher is left", async () => (await stage.find(BatchJob, "pi-launcher")) === undefined);
};

/** Intel MPI and MPICH write hosts otherwise; a launcher that waits is created when all workers are ready. */
export const mpiImplementations: Scenario = async (stage) => {
  await start(stage);
  const as = (name: string, mpi: string) =>
    PI.replace("name: pi\n", `name: ${name}\n`).replace("spec:\n", `spec:\n  mpiImplementation: ${mpi}\n`);
  await stage.apply(as("intel", "Intel").replace("spec:\n", "spec:\n  runLauncherAsWorker: true\n"));
  await stage.apply(as("mpich", "MPICH").replace("spec:\n", "spec:\n  launcherCreationPolicy: WaitForWorkersReady\n"));
  await until(stage, "Running", "intel");
  await until(stage, "Running", "mpich");
  const hosts = async (name: string) => (await stage.get(ConfigMap, `${name}-config`)).data?.["hostfile"]?.split("\n");
  const { namespace } = stage;
  assert.equal((await hosts("intel"))?.[0], `intel-launcher.intel.${namespace}.svc:1`);
  assert.equal((await hosts("mpich"))?.[0], `mpich-worker-0.mpich.${namespace}.svc:1`);
  assert.equal((await stage.get(Service, "intel")).spec?.publishNotReadyAddresses, true);
};

/** What could never run is refused, in upstream's words. */
export const badMpiJobs: Scenario = async (stage) => {
  await start(stage);
  const refused = (change: (text: string) => string, message: RegExp) =>
    assert.rejects(stage.apply(change(PI)), message);
  await refused(
    (text) => text.replace("    Launcher:\n", "    Master:\n"),
    /mpiReplicaSpecs\[Launcher\]: Required value: must have Launcher replica spec/,
  );
  await refused(
    (text) => text.replace("replicas: 2", "replicas: 0"),
    /mpiReplicaSpecs\[Worker\]\.replicas: Invalid value: 0: must be greater than or equal to 1/,
  );
  await refused(
    (text) => text.replace("Launcher:\n", "Launcher:\n      replicas: 2\n"),
    /mpiReplicaSpecs\[Launcher\]\.replicas: Invalid value: 2: must be 1/,
  );
  await refused(
    (text) => text.replace("Launcher:\n", "Launcher:\n      restartPolicy: Always\n"),
    /mpiReplicaSpecs\[Launcher\]\.restartPolicy: Unsupported value: "Always"/,
  );
  await refused(
    (text) => text.replace("slotsPerWorker: 1", "mpiImplementation: LAM"),
    /mpiImplementation: Unsupported value/,
  );
};

/** A Job of another client that has the launcher's name. */
const takeName = (stage: TestEnvironment) =>
  stage.client.create(BatchJob, {
    metadata: { name: "pi-launcher", namespace: stage.namespace },
    spec: {
      suspend: true,
      template: {
        spec: { restartPolicy: "Never", containers: [{ name: "other", image: IMAGE }] },
      },
    },
  });
const untilStalled = (stage: TestEnvironment, wanted: string) =>
  stage.until(`${wanted} is reported`, async () => {
    const { status } = await stage.get(MPIJob, "pi");
    return status?.conditions?.some(({ type, reason }) => type === "Stalled" && reason === wanted) ?? false;
  });

/** A Job that has the launcher's name and has no owner is left as it is, and reported; a launcher that lost its labels is replaced. */
export const mpiNameTaken: Scenario = async (stage) => {
  await start(stage);
  await takeName(stage);
  await stage.apply(PI);
  await untilStalled(stage, "NameTaken");
  await stage.client.delete(BatchJob, `${stage.namespace}/pi-launcher`);
  await until(stage, "Running");
  const { uid } = (await stage.get(BatchJob, "pi-launcher")).metadata;
  await stage.client.patch(BatchJob, `${stage.namespace}/pi-launcher`, {
    merge: { metadata: { labels: { "training.kubeflow.org/operator-name": null } } },
  } as never);
  await stage.until("a launcher that lost its labels is replaced", async () => {
    const launcher = await stage.find(BatchJob, "pi-launcher");
    return launcher !== undefined && launcher.metadata.uid !== uid;
  });
};

/** A launcher whose name is taken, and one that finds no node, are reported; it runs when it can. */
export const mpiStuck: Scenario = async (stage) => {
  await start(stage);
  await takeName(stage);
  const wide = "resources: { requests: { memory: 900Ti } }";
  await stage.apply(PI.replace("- name: mpi-launcher\n", `- name: mpi-launcher\n              ${wide}\n`));
  await untilStalled(stage, "NameTaken");
  await stage.client.delete(BatchJob, `${stage.namespace}/pi-launcher`);
  await untilStalled(stage, "Unschedulable");
  await suspend(stage, true);
  await until(stage, "Suspended");
  await stage.apply(PI);
  await suspend(stage, false);
  // Where nodes run nothing, a launcher ends a second later, before its workers run.
  await stage.until("it runs", async () => ["Running", "Succeeded"].includes((await state(stage)) ?? ""));
};

/** Where upstream's operator is installed, jobs are ignored. */
export const mpiOfOthers: Scenario = async (stage) => {
  await stage.client.create(Deployment, {
    metadata: {
      name: "mpi-operator",
      namespace: stage.namespace,
      labels: { "app.kubernetes.io/name": "mpi-operator" },
    },
    spec: {
      replicas: 0,
      selector: { matchLabels: { app: "mpi-operator" } },
      template: {
        metadata: { labels: { app: "mpi-operator" } },
        spec: { containers: [{ name: "mpi-operator", image: "mpioperator/mpi-operator:0.8.2" }] },
      },
    },
  });
  await start(stage);
  await stage.apply(PI);
  await stage.until("it is reported", async () =>
    (await stage.list(Event)).some(({ reason }) => reason === "UpstreamOperator"),
  );
  assert.equal((await stage.list(Pod)).length, 0);
};
