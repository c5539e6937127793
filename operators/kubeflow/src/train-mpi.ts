import { ConfigMap, type Container, type PodSpec, Secret, type Volume, type VolumeMount } from "konverge/kinds";
import type { SecretSource } from "konverge/time";
import { HOSTS_FOLDER, hostfile, isFolderOfRoot, keyFiles, keysFor, MPI_VARIABLES, ownHost } from "./mpi-access.ts";
import type { TrainJob } from "./train-job.ts";
import { ancestorOf, hostsOf, LAUNCHER, NODE, ownLabels } from "./train-pods.ts";
import { gpusOf } from "./train-policies.ts";
import type { ReplicatedJob, RuntimeSpec } from "./training-runtime.ts";

type MpiPolicy = NonNullable<NonNullable<RuntimeSpec["mlPolicy"]>["mpi"]>;

const KEYS = "mpi-ssh-auth";
const HOSTS = "mpi-hostfile";

/** The name of the Secret with the keys of a TrainJob. */
export const trainKeysName = ({ metadata }: TrainJob) => `${metadata.name}-${KEYS}`;
const trainHostsName = ({ metadata }: TrainJob) => `${metadata.name}-${HOSTS}`;

/** Whether processes of MPI run in the pods of a Job. */
const hasProcesses = ({ name }: ReplicatedJob, { runLauncherAsNode }: MpiPolicy) =>
  name === NODE || (runLauncherAsNode && name === LAUNCHER);

/** Whether a Job trains together with the launcher, and so has the same variables and resources. */
export const trainsBesideLauncher = ({ name }: ReplicatedJob, { mlPolicy }: RuntimeSpec) =>
  name === NODE && mlPolicy?.mpi?.runLauncherAsNode === true;

/** The keys and hosts of a TrainJob; none without MPI. */
export function mpiObjectsFor(job: TrainJob, runtime: RuntimeSpec, live: Secret | undefined, secrets: SecretSource) {
  const { mpi } = runtime.mlPolicy ?? {};
  if (!mpi) return [];
  const metadataOf = (name: string) => ({ name, namespace: job.metadata.namespace!, labels: ownLabels(job) });
  const nodes = runtime.template.spec.replicatedJobs.filter((step) => hasProcesses(step, mpi));
  const hosts = nodes.flatMap((step) => {
    const pod = step.template.spec?.template.spec;
    const names = hostsOf(job, step, runtime);
    return step.name === LAUNCHER ? names.map((host) => ownHost(host, pod)) : names;
  });
  return [
    Secret.draft({ ...keysFor(metadataOf(trainKeysName(job)), live, secrets), immutable: true }),
    ConfigMap.draft({
      metadata: metadataOf(trainHostsName(job)),
      data: { hostfile: hostfile(hosts, slotsOf(job, runtime, mpi), "OpenMPI") },
    }),
  ];
}

/** A pod of a Job with what MPI needs in it: the keys in each node, and the hosts in the launcher. */
export function withMpi(pod: PodSpec, job: TrainJob, step: ReplicatedJob, runtime: RuntimeSpec): PodSpec {
  const { mpi } = runtime.mlPolicy ?? {};
  const isLauncher = step.name === LAUNCHER;
  if (!mpi || (!isLauncher && step.name !== NODE)) return pod;
  // Files of a Secret are root's: other users read the private key by their group.
  const modes = { privateKey: isFolderOfRoot(mpi.sshAuthMountPath) ? 0o600 : 0o640, publicKey: 0o644 };
  const secret = { secretName: trainKeysName(job), defaultMode: 0o400, items: keyFiles(modes) };
  const items = [{ key: "hostfile", path: "hostfile", mode: 0o444 }];
  const volumes: Volume[] = [
    { name: KEYS, secret },
    ...(isLauncher ? [{ name: HOSTS, configMap: { name: trainHostsName(job), items } }] : []),
  ];
  const mounts: VolumeMount[] = [
    { name: KEYS, mountPath: mpi.sshAuthMountPath },
    ...(isLauncher ? [{ name: HOSTS, mountPath: HOSTS_FOLDER }] : []),
  ];
  const variables = isLauncher ? Object.entries(MPI_VARIABLES.OpenMPI(slotsOf(job, runtime, mpi))) : [];
  const env = variables.map(([name, value]) => ({ name, value }));
  const complete = (container: Container): Container => ({
    ...container,
    ...(isLauncher && { env: replaced(container.env, env, "name") }),
    volumeMounts: replaced(container.volumeMounts, mounts, "mountPath"),
  });
  return {
    ...pod,
    containers: pod.containers.map((one) => (one.name === NODE ? complete(one) : one)),
    volumes: replaced(pod.volumes, volumes, "name"),
  };
}

/** Processes on each node: what the TrainJob says, or the runtime; a single one becomes one for each GPU. */
function slotsOf({ spec }: TrainJob, { template }: RuntimeSpec, mpi: MpiPolicy): number {
  const { numProcPerNode, resourcesPerNode } = spec.trainer ?? {};
  if (numProcPerNode !== undefined) return numProcPerNode;
  if (mpi.numProcPerNode !== 1) return mpi.numProcPerNode;
  const steps = template.spec.replicatedJobs.filter((step) => step.name === NODE || ancestorOf(step) === "trainer");
  const nodes = steps.flatMap((step) => step.template.spec?.template.spec?.containers ?? []);
  const node = nodes.find(({ name, resources }) => name === NODE && resources !== undefined);
  return Math.max(1, gpusOf(resourcesPerNode ?? node?.resources));
}

/** Entries replace those with the same key in their places. */
function replaced<T, K extends keyof T>(before: readonly T[] | undefined, more: readonly T[], key: K): T[] {
  return [...new Map([...(before ?? []), ...more].map((one) => [one[key], one])).values()];
}
