import { isNotFound, type KubeObject, type ReconcileContext } from "konverge";
import { type KeyToPath, type PodSpec, Secret } from "konverge/kinds";
import { isControlledBy } from "konverge/objects";
import type { SecretSource } from "konverge/time";
import { newSshKey } from "./ssh-key.ts";

/** The folder of the launcher in which the hosts are. */
export const HOSTS_FOLDER = "/etc/mpi";
const HOSTFILE = `${HOSTS_FOLDER}/hostfile`;
const RETRY = "-o ConnectionAttempts=10";

export type MpiImplementation = "OpenMPI" | "Intel" | "MPICH";

/** What starts the processes needs to know, by the implementation of MPI. */
export const MPI_VARIABLES: Record<MpiImplementation, (slots: number) => Record<string, string>> = {
  OpenMPI: (slots) => ({
    // Pods are reached under the names that the Service gives them.
    OMPI_MCA_orte_keep_fqdn_hostnames: "true",
    OMPI_MCA_orte_default_hostfile: HOSTFILE,
    OMPI_MCA_plm_rsh_args: RETRY,
    OMPI_MCA_orte_set_default_slots: String(slots),
  }),
  Intel: (slots) => ({
    I_MPI_HYDRA_HOST_FILE: HOSTFILE,
    I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS: RETRY,
    I_MPI_PERHOST: String(slots),
  }),
  MPICH: () => ({ HYDRA_HOST_FILE: HOSTFILE, HYDRA_LAUNCH_EXTRA_ARGS: RETRY }),
};

/**
 * A launcher in its own hostfile: under its bare host name, which is in the pod's /etc/hosts. `mpirun` starts before the DNS knows the
 * pod, and then fails, or runs without this host and reports no error. In the network of the node, only the DNS has the name.
 */
export const ownHost = (host: string, pod: PodSpec | undefined) => (pod?.hostNetwork ? host : host.split(".")[0]!);

/** A file with the hosts that processes run on, and how many each of them takes. */
export function hostfile(hosts: readonly string[], slots: number, implementation: MpiImplementation): string {
  const suffix = implementation === "OpenMPI" ? ` slots=${slots}` : `:${slots}`;
  return hosts.map((host) => `${host}${suffix}\n`).join("");
}

/** The Secret with the keys of a job, also if it has lost the labels by which it is cached: pods have its keys already. */
export async function findKeys(
  owner: KubeObject,
  name: string,
  { observed, client }: ReconcileContext,
): Promise<Secret | undefined> {
  const cached = observed(Secret, name);
  if (cached) return cached;
  try {
    const live = await client.get(Secret, `${owner.metadata.namespace}/${name}`);
    return isControlledBy(live, owner) ? live : undefined;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return undefined;
  }
}

/** The keys by which the launcher gets into other pods. Those that are there stay. */
export function keysFor(
  metadata: { name: string; namespace: string; labels: Record<string, string> },
  live: Secret | undefined,
  secrets: SecretSource,
) {
  const { "ssh-privatekey": privateKey, "ssh-publickey": publicKey } = live?.data ?? {};
  const key = privateKey && publicKey ? undefined : newSshKey(secrets);
  const encoded = (text: string) => Buffer.from(text).toString("base64");
  return Secret.draft({
    metadata,
    type: "kubernetes.io/ssh-auth",
    data: {
      "ssh-privatekey": key ? encoded(key.privateKey) : privateKey!,
      "ssh-publickey": key ? encoded(key.publicKey) : publicKey!,
    },
  });
}

/** SSH ignores the private key of root if others can read it. */
export const isFolderOfRoot = (sshAuthMountPath: string) => sshAuthMountPath === "/root/.ssh";

/** The keys as the files that SSH reads, with these modes if there are any. */
export function keyFiles(modes?: { privateKey: number; publicKey: number }): KeyToPath[] {
  const mode = (which: "privateKey" | "publicKey") => modes && { mode: modes[which] };
  return [
    { key: "ssh-privatekey", path: "id_rsa", ...mode("privateKey") },
    { key: "ssh-publickey", path: "id_rsa.pub", ...mode("publicKey") },
    { key: "ssh-publickey", path: "authorized_keys", ...mode("publicKey") },
  ];
}
