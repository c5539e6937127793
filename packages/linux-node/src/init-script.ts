import { INSIDE, type NodeDescription, VOLUMES } from "./node-files.ts";
import type { NodePrograms } from "./prerequisites.ts";

/** What the kubelet would set for the whole machine; it finds these values, and leaves those of the machine as they are. */
const KUBELET_SYSCTLS: Readonly<Record<string, string>> = {
  "vm/overcommit_memory": "1",
  "vm/panic_on_oom": "0",
  "kernel/panic": "10",
  "kernel/panic_on_oops": "1",
  "kernel/keys/root_maxkeys": "1000000",
  "kernel/keys/root_maxbytes": "25000000",
};

/** What a node is given of its machine. */
export interface NodeContents {
  readonly folder: string;
  /** The folder of its local volumes. */
  readonly volumes: string;
  readonly programs: NodePrograms;
}

/**
 * The script of a node's first process, in its own PID, mount, network, UTS and IPC namespaces. It gives the node its
 * own /run, /var/lib and /var/log, then starts its daemons, and again whenever one ends, as systemd would. The rest of
 * the file system is that of the machine.
 */
export function initScript({ name, address }: NodeDescription, { folder, volumes, programs }: NodeContents): string {
  const kubelet = [
    programs.kubelet,
    ...["--config", `${INSIDE}/kubelet.json`, "--kubeconfig", "/var/lib/kubelet/kubeconfig"],
    ...["--bootstrap-kubeconfig", `${INSIDE}/bootstrap.kubeconfig`, "--cert-dir", "/var/lib/kubelet/pki"],
    ...["--hostname-override", name, "--node-ip", address, "-v=2"],
  ];
  return `set -eu
hostname ${name}
mount -n --make-rprivate /
resolver=$(readlink -f /etc/resolv.conf)
mkdir -p ${quoted(`${folder}/mounted`)}
mount -n -t tmpfs -o mode=755 tmpfs ${quoted(`${folder}/mounted`)}
mkdir ${quoted(`${folder}/mounted/konverge`)} ${quoted(`${folder}/mounted/volumes`)}
mount -n --bind ${quoted(folder)} ${quoted(`${folder}/mounted/konverge`)}
mount -n --bind ${quoted(volumes)} ${quoted(`${folder}/mounted/volumes`)}
mount -n --move ${quoted(`${folder}/mounted`)} /run
mount -n -t tmpfs -o mode=755 tmpfs /var/lib
mkdir -p /run/lock /run/netns /var/lib/kubelet /var/lib/containerd ${VOLUMES}
mount -n --move /run/volumes ${VOLUMES}
rmdir /run/volumes
for one in kubelet containerd; do mount -n --bind ${INSIDE}/$one /var/lib/$one; done
mount -n --bind ${INSIDE}/log /var/log
case $resolver in
  /run/*) mkdir -p "\${resolver%/*}"; cp ${INSIDE}/resolv.conf "$resolver" ;;
  *) [ ! -e "$resolver" ] || mount -n --bind ${INSIDE}/resolv.conf "$resolver" ;;
esac
# Mounts of the node stay in it; its pods can share mounts with it (mountPropagation).
mount -n --make-rshared /
# The network is connected from outside.
until [ -e ${INSIDE}/connected ]; do sleep 0.05; done
keep() {
  log=/var/log/$1.log
  shift
  while :; do
    "$@" >> "$log" 2>&1 || true
    sleep 1
  done
}
start_kubelet() {
  # In a mount namespace that shares all mounts but those below /proc.
  unshare --mount --propagation unchanged sh -c '
    mount -n --make-rprivate /proc
    mkdir -p /run/konverge-sysctls
${Object.entries(KUBELET_SYSCTLS)
  .map(([key, value]) => {
    const file = `/run/konverge-sysctls/${key.replaceAll("/", ".")}`;
    return `    echo ${value} > ${file} && mount -n --bind ${file} /proc/sys/${key}`;
  })
  .join("\n")}
    exec "$@"' sh ${kubelet.map(quoted).join(" ")}
}
start_kube_proxy() {
  until [ -e /var/lib/kubelet/kubeconfig ]; do sleep 0.2; done
  ${quoted(programs.kubeProxy)} --config ${INSIDE}/kube-proxy.json -v=2
}
keep containerd ${quoted(programs.containerd)} --config ${INSIDE}/containerd.toml &
until [ -S /run/containerd/containerd.sock ]; do sleep 0.05; done
keep kubelet start_kubelet &
keep kube-proxy start_kube_proxy &
# Takes the exit statuses of processes whose parents have ended.
while :; do wait; done
`;
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
