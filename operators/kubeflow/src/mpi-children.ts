import {
  Job as BatchJob,
  ConfigMap,
  type Container,
  type EnvVar,
  type Pod,
  type PodSpec,
  type PodTemplateSpec,
  type Secret,
  Service,
  type Volume,
  type VolumeMount,
} from "konverge/kinds";
import type { SecretSource } from "konverge/time";
import { HOSTS_FOLDER, hostfile, isFolderOfRoot, keyFiles, keysFor, MPI_VARIABLES, ownHost } from "./mpi-access.ts";
import type { MPIJob } from "./mpi-job.ts";
import { JOB_NAME, JOB_ROLE, OPERATOR_NAME, replicaName } from "./names.ts";

/** The value of the label that says who made a pod. */
export const MPI_OPERATOR = "mpi-operator";

export const launcherName = ({ metadata }: MPIJob) => `${metadata.name}-launcher`;
const configName = ({ metadata }: MPIJob) => `${metadata.name}-config`;
/** The name of the Secret with the keys of an MPIJob. */
export const keysName = ({ metadata }: MPIJob) => `${metadata.name}-ssh`;

/** How many workers a job has. */
export const workerCount = ({ spec }: MPIJob) => spec.mpiReplicaSpecs["Worker"]?.replicas ?? 0;

function metadataOf({ metadata }: MPIJob, name: string) {
  const labels = { app: metadata.name, [OPERATOR_NAME]: MPI_OPERATOR, [JOB_NAME]: metadata.name };
  return { name, namespace: metadata.namespace!, labels };
}

/** It gives launcher and workers their names. */
export function mpiServiceFor(job: MPIJob) {
  return Service.draft({
    metadata: metadataOf(job, job.metadata.name),
    spec: {
      clusterIP: "None",
      selector: { [OPERATOR_NAME]: MPI_OPERATOR, [JOB_NAME]: job.metadata.name },
      // A launcher that is also a worker has to reach itself before it is ready.
      publishNotReadyAddresses: job.spec.runLauncherAsWorker === true,
    },
  });
}

/** The hosts of a job, and a script for Elastic Horovod that prints those that run. */
export function hostsFor(job: MPIJob, running: readonly Pod[], domain: string | undefined) {
  const { slotsPerWorker, mpiImplementation, runLauncherAsWorker, mpiReplicaSpecs } = job.spec;
  const { name, namespace } = job.metadata;
  const suffix = `${name}.${namespace}.svc${domain ? `.${domain}` : ""}`;
  const full = (host: string) => `${host}.${suffix}`;
  const launcher = runLauncherAsWorker ? [full(launcherName(job))] : [];
  const own = launcher.map((host) =>
    mpiImplementation === "OpenMPI" ? ownHost(host, mpiReplicaSpecs["Launcher"]?.template?.spec) : host,
  );
  const workers = Array.from({ length: workerCount(job) }, (_, index) => replicaName(name, "Worker", index));
  const found = running.map(({ metadata }) => metadata.name).sort();
  return ConfigMap.draft({
    metadata: metadataOf(job, configName(job)),
    data: {
      hostfile: hostfile([...own, ...workers.map(full)], slotsPerWorker, mpiImplementation),
      "discover_hosts.sh": ["#!/bin/sh\n", ...[...launcher, ...found.map(full)].map((host) => `echo ${host}\n`)].join(
        "",
      ),
    },
  });
}

/** The keys by which the launcher gets into workers. */
export function workerKeysFor(job: MPIJob, live: Secret | undefined, secrets: SecretSource) {
  return keysFor(metadataOf(job, keysName(job)), live, secrets);
}

/** The Job that starts the processes, and whose end is the end of the MPIJob. */
export function launcherFor(job: MPIJob) {
  const { ttlSecondsAfterFinished, activeDeadlineSeconds, backoffLimit } = job.spec.runPolicy ?? {};
  return BatchJob.draft({
    metadata: metadataOf(job, launcherName(job)),
    spec: {
      ...(ttlSecondsAfterFinished !== undefined && { ttlSecondsAfterFinished }),
      ...(activeDeadlineSeconds !== undefined && { activeDeadlineSeconds }),
      ...(backoffLimit !== undefined && { backoffLimit }),
      template: launcherTemplate(job),
    },
  });
}

function launcherTemplate(job: MPIJob): PodTemplateSpec {
  const { mpiReplicaSpecs, mpiImplementation, slotsPerWorker, runLauncherAsWorker } = job.spec;
  const { template, restartPolicy = "OnFailure" } = mpiReplicaSpecs["Launcher"]!;
  const variables = {
    K_MPI_JOB_ROLE: "launcher",
    ...MPI_VARIABLES[mpiImplementation](slotsPerWorker),
    // A launcher that only starts processes takes no GPU from them.
    ...(!runLauncherAsWorker && { NVIDIA_VISIBLE_DEVICES: "", NVIDIA_DRIVER_CAPABILITIES: "" }),
  };
  const mount = { name: "mpi-job-config", mountPath: HOSTS_FOLDER };
  const items = [
    { key: "hostfile", path: "hostfile", mode: 0o444 },
    { key: "discover_hosts.sh", path: "discover_hosts.sh", mode: 0o555 },
  ];
  const volume = { name: mount.name, configMap: { name: configName(job), items } };
  const host = launcherName(job);
  const spec = podOf(job, template?.spec, host, { variables, mounts: [mount], volumes: [volume] });
  return {
    metadata: {
      ...template?.metadata,
      labels: {
        ...template?.metadata?.labels,
        [OPERATOR_NAME]: MPI_OPERATOR,
        [JOB_NAME]: job.metadata.name,
        [JOB_ROLE]: "launcher",
      },
    },
    spec: { ...spec, restartPolicy: restartPolicy === "Never" ? "Never" : "OnFailure" },
  };
}

/** The template of one worker. Without a command it runs the SSH server. */
export function workerTemplate(job: MPIJob, index: number): PodTemplateSpec {
  const { template } = job.spec.mpiReplicaSpecs["Worker"]!;
  const { name, namespace } = job.metadata;
  const host = replicaName(name, "Worker", index);
  const spec = podOf(job, template?.spec, host, { variables: { K_MPI_JOB_ROLE: "worker" } });
  const [first, ...others] = spec.containers;
  const serves = !first!.command?.length && !first!.args?.length;
  // Intel MPI and MPICH connect to the launcher under its bare host name.
  const searches = [...(spec.dnsConfig?.searches ?? []), `${name}.${namespace}.svc.cluster.local`];
  return {
    metadata: {
      ...template?.metadata,
      labels: { ...template?.metadata?.labels, [JOB_ROLE]: "worker" },
    },
    spec: {
      ...spec,
      dnsConfig: { ...spec.dnsConfig, searches },
      containers: [serves ? { ...first!, command: ["/usr/sbin/sshd", "-De"] } : first!, ...others],
    },
  };
}

interface Additions {
  readonly variables: Readonly<Record<string, string>>;
  readonly mounts?: readonly VolumeMount[];
  readonly volumes?: readonly Volume[];
}

/** A pod with the name that others know it by, the keys, and more in its first container. */
function podOf(job: MPIJob, given: PodSpec | undefined, hostname: string, more: Additions): PodSpec {
  const { sshAuthMountPath } = job.spec;
  const [first, ...others] = given?.containers ?? [];
  const keys = { name: "ssh-auth", mountPath: sshAuthMountPath };
  const env: EnvVar[] = Object.entries(more.variables).map(([name, value]) => ({ name, value }));
  const container: Container = {
    ...first!,
    env: [...(first?.env ?? []), ...env],
    volumeMounts: [...(first?.volumeMounts ?? []), keys, ...(more.mounts ?? [])],
  };
  const secret = {
    secretName: keysName(job),
    ...(isFolderOfRoot(sshAuthMountPath) && { defaultMode: 0o600 }),
    items: keyFiles(),
  };
  return {
    ...given,
    hostname,
    subdomain: job.metadata.name,
    ...(given?.hostNetwork && { dnsPolicy: "ClusterFirstWithHostNet" }),
    containers: [container, ...others],
    volumes: [...(given?.volumes ?? []), { name: keys.name, secret }, ...(more.volumes ?? [])],
  };
}
