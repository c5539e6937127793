import type { Pod } from "@konverge/kinds";

const NONE: readonly string[] = [];

/** The ports of its node that a pod takes: `TCP/8080/` on all addresses, `TCP/8080/10.0.0.1` on one. */
export function hostPortsOf({ spec }: Pod): readonly string[] {
  const found: string[] = [];
  const containers = [
    ...(spec?.initContainers ?? []).filter((one) => one.restartPolicy === "Always"),
    ...(spec?.containers ?? []),
  ];
  for (const { ports } of containers) {
    for (const { hostPort, containerPort, protocol = "TCP", hostIP = "" } of ports ?? []) {
      const port = hostPort || (spec?.hostNetwork ? containerPort : 0);
      if (port) found.push(`${protocol}/${port}/${hostIP === "0.0.0.0" ? "" : hostIP}`);
    }
  }
  return found.length > 0 ? found : NONE;
}

/** Whether two pods cannot be on one node: the same port on the same address, or on all of them. */
export function portsClash(some: readonly string[], others: readonly string[]): boolean {
  return some.some((one) => others.some((other) => one === other || isAnywhere(one, other) || isAnywhere(other, one)));
}

/** Whether the first is on all addresses, and the second on one of them. */
function isAnywhere(one: string, other: string): boolean {
  return one.endsWith("/") && other.startsWith(one);
}
