import type { Pod } from "@konverge/kinds";

/** What a kubelet lets every pod set: isolated from other pods, by the namespace of the kernel that it belongs to. */
const SAFE: ReadonlyMap<string, "IPC" | "Net"> = new Map([
  ["kernel.shm_rmid_forced", "IPC"],
  ["net.ipv4.ip_local_port_range", "Net"],
  ["net.ipv4.tcp_syncookies", "Net"],
  ["net.ipv4.ping_group_range", "Net"],
  ["net.ipv4.ip_unprivileged_port_start", "Net"],
  ["net.ipv4.ip_local_reserved_ports", "Net"],
  ["net.ipv4.tcp_keepalive_time", "Net"],
  ["net.ipv4.tcp_fin_timeout", "Net"],
  ["net.ipv4.tcp_keepalive_intvl", "Net"],
  ["net.ipv4.tcp_keepalive_probes", "Net"],
  ["net.ipv4.tcp_rmem", "Net"],
  ["net.ipv4.tcp_wmem", "Net"],
]);

/** Why a node does not let a pod set the kernel parameters that it names; undefined when it does. */
export function sysctlProblem({ spec }: Pod): string | undefined {
  for (const { name } of spec?.securityContext?.sysctls ?? []) {
    const normalized = normalize(name);
    const namespace = SAFE.get(normalized);
    if (namespace === undefined) return `forbidden sysctl: "${normalized}" not allowlisted`;
    const isShared = namespace === "IPC" ? spec?.hostIPC : spec?.hostNetwork;
    if (isShared) return `forbidden sysctl: "${normalized}" not allowed with host ${namespace} enabled`;
  }
  return undefined;
}

/** A name whose first separator is a slash has dots and slashes the other way round. */
function normalize(name: string): string {
  if (!/^[^./]*\//.test(name)) return name;
  return name.replace(/[./]/g, (separator) => (separator === "/" ? "." : "/"));
}
