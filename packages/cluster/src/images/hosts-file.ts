import type { Pod } from "@konverge/kinds";
import { fullNameOf, hostNameOf } from "../streams/cluster-names.ts";

const LOCAL = [
  "127.0.0.1\tlocalhost",
  "::1\tlocalhost ip6-localhost ip6-loopback",
  "fe00::\tip6-localnet",
  "fe00::\tip6-mcastprefix",
  "fe00::1\tip6-allnodes",
  "fe00::2\tip6-allrouters",
];

/** The `/etc/hosts` of a node itself. */
export function nodeHostsText(): string {
  return `${LOCAL.join("\n")}\n`;
}

/** The `/etc/hosts` that a node gives to a pod's containers. In the node's own network it is the node's. */
export function hostsText(pod: Pod, podIP: string): string {
  const { hostNetwork, hostAliases = [] } = pod.spec ?? {};
  if (hostNetwork && hostAliases.length === 0) return nodeHostsText();
  const lines = [`# Kubernetes-managed hosts file${hostNetwork ? " (host network)" : ""}.`, ...LOCAL];
  const name = hostNameOf(pod);
  const full = fullNameOf(pod);
  if (!hostNetwork) lines.push(`${podIP}\t${full === name ? name : `${full}\t${name}`}`);
  if (hostAliases.length > 0) lines.push("", "# Entries added by HostAliases.");
  for (const { ip, hostnames = [] } of hostAliases) lines.push(`${ip}\t${hostnames.join("\t")}`);
  return `${lines.join("\n")}\n`;
}
