import { ownerReference } from "konverge";
import {
  Job as BatchJob,
  ConfigMap,
  type Container,
  type EnvVar,
  type Pod,
  type PodSpec,
  type PodTemplateSpec,
  Secret,
  Service,
  type Volume,
  type VolumeMount,
} from "konverge/kinds";
import type { SecretSource } from "konverge/time";
import { MPIJob } from "./mpi-job.ts";
import { JOB_NAME, JOB_ROLE, OPERATOR_NAME, replicaName } from "./names.ts";
import { newSshKey } from "./ssh-key.ts";

/** The value of the label that says who made a pod. */
export const MPI_OPERATOR = "mpi-operator";
const CONFIG_FOLDER = "/etc/mpi";
const HOSTFILE = `${CONFIG_FOLDER}/hostfile`;
const RETRY = "-o ConnectionAttempts=10";
const ROOTS_FOLDER = "/root/.ssh";

/** What starts the processes needs to know, by the implementation of MPI. */
const VARIABLES: Record<MPIJob["spec"]["mpiImplementation"], (slots: string) => Record<string, string>> = {
  OpenMPI: (slots) => ({
    // Workers are reached under the names that the Service gives them.
    OMPI_MCA_orte_keep_fqdn_hostnames: "true",
    OMPI_MCA_orte_default_hostfile: HOSTFILE,
    OMPI_MCA_plm_rsh_args: RETRY,
    OMPI_MCA_orte_set_default_slots: slots,
  }),
  Intel: (slots) => ({
    I_MPI_HYDRA_HOST_FILE: HOSTFILE,
    I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS: RETRY,
    I_MPI_PERHOST: slots,
  }),
  MPICH: () => ({ HYDRA_HOST_FILE: HOSTFILE, HYDRA_LAUNCH_EXTRA_ARGS: RETRY }),
};

export const launcherName = ({ metadata }: MPIJob) => `${metadata.name}-launcher`;
const configName = ({ metadata }: MPIJob) => `${metadata.name}-config`;
const keysName = ({ metadata }: MPIJob) => `${metadata.name}-ssh`;

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
  const { slotsPerWorker, mpiImplementation, runLauncherAsWorker } = job.spec;
  const { name, namespace } = job.metadata;
  const suffix = `${name}.${namespace}.svc${domain ? `.${domain}` : ""}`;
  const launcher = runLauncherAsWorker ? [launcherName(job)] : [];
  const workers = Array.from({ length: workerCount(job) }, (_, index) => replicaName(name, "Worker", index));
  const slots = mpiImplementation === "OpenMPI" ? ` slots=${slotsPerWorker}` : `:${slotsPerWorker}`;
  const lines = (hosts: readonly string[], line: (host: string) => string) =>
    hosts.map((host) => `${line(`${host}.${suffix}`)}\n`).join("");
  const found = running.map(({ metadata }) => metadata.name).sort();
  return ConfigMap.draft({
    metadata: metadataOf(job, configName(job)),
    data: {
      hostfile: lines([...launcher, ...workers], (host) => `${host}${slots}`),
      "discover_hosts.sh": `#!/bin/sh\n${lines([...launcher, ...found], (host) => `echo ${host}`)}`,
    },
  });
}

/** The keys by which the launcher gets into workers. Those that are there stay: pods have them already. */
export function keysFor(job: MPIJob, live: Secret | undefined, secrets: SecretSource) {
  const { "ssh-privatekey": privateKey, "ssh-publickey": publicKey } = live?.data ?? {};
  const key = privateKey && publicKey ? undefined : newSshKey(secrets);
  const encoded = (text: string) => Buffer.from(text).toString("base64");
  return Secret.draft({
    metadata: metadataOf(job, keysName(job)),
    type: "kubernetes.io/ssh-auth",
    data: {
      "ssh-privatekey": key ? encoded(key.privateKey) : privateKey!,
      "ssh-publickey": key ? encoded(key.publicKey) : publicKey!,
    },
  });
}

/** The Job that starts the processes, and whose end is the end of the MPIJob. */
export function launcherFor(job: MPIJob) {
  const { ttlSecondsAfterFinished, activeDeadlineSeconds, backoffLimit } = job.spec.runPolicy ?? {};
  return BatchJob.draft({
    metadata: { ...metadataOf(job, launcherName(job)), ownerReferences: [ownerReference(MPIJob, job)] },
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
    ...VARIABLES[mpiImplementation](String(slotsPerWorker)),
    // A launcher that only starts processes takes no GPU from them.
    ...(!runLauncherAsWorker && { NVIDIA_VISIBLE_DEVICES: "", NVIDIA_DRIVER_CAPABILITIES: "" }),
  };
  const mount = { name: "mpi-job-config", mountPath: CONFIG_FOLDER };
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
    // SSH ignores the keys of root if others can read them.
    ...(sshAuthMountPath === ROOTS_FOLDER && { defaultMode: 0o600 }),
    items: [
      { key: "ssh-privatekey", path: "id_rsa" },
      { key: "ssh-publickey", path: "id_rsa.pub" },
      { key: "ssh-publickey", path: "authorized_keys" },
    ],
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
