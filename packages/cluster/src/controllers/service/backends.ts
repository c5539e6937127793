import { deepEqual } from "@konverge/core";
import type { Pod, Service } from "@konverge/kinds";
import { isReady, isTerminal } from "../workloads/pod-state.ts";

/** A port as a pod behind a service offers it. */
export interface BackendPort {
  name: string;
  port: number;
  protocol: "TCP" | "UDP" | "SCTP";
  appProtocol?: string;
}

/** A pod behind a service. */
export interface Backend {
  pod: Pod;
  address: string;
  ready: boolean;
  serving: boolean;
  terminating: boolean;
  ports: BackendPort[];
}

/** Pods that offer the same ports. */
export interface BackendGroup {
  ports: BackendPort[];
  backends: Backend[];
}

/** The pods behind a service that have an address, by the ports they offer. */
export function backendsOf(service: Service, pods: readonly Pod[]): BackendGroup[] {
  const groups: BackendGroup[] = [];
  const sorted = [...pods].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  for (const pod of sorted) {
    const address = pod.status?.podIP;
    if (!address || isTerminal(pod)) continue;
    const terminating = pod.metadata.deletionTimestamp !== undefined;
    const serving = isReady(pod);
    const ready = service.spec?.publishNotReadyAddresses === true || (serving && !terminating);
    const ports = portsOf(service, pod);
    if (ports.length === 0 && (service.spec?.ports?.length ?? 0) > 0) continue;
    const backend = { pod, address, ready, serving, terminating, ports };
    const group = groups.find((one) => deepEqual(one.ports, ports));
    if (group) group.backends.push(backend);
    else groups.push({ ports, backends: [backend] });
  }
  return groups;
}

function portsOf({ spec }: Service, pod: Pod): BackendPort[] {
  return (spec?.ports ?? []).flatMap(({ name = "", port, targetPort = port, protocol = "TCP", appProtocol }) => {
    const number = typeof targetPort === "number" ? targetPort || port : namedPort(pod, targetPort, protocol);
    return number === undefined ? [] : [{ name, port: number, protocol, ...(appProtocol && { appProtocol }) }];
  });
}

function namedPort({ spec }: Pod, name: string, protocol: string): number | undefined {
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  for (const { ports = [] } of [...(spec?.containers ?? []), ...sidecars]) {
    for (const port of ports)
      if (port.name === name && (port.protocol ?? "TCP") === protocol) return port.containerPort;
  }
  return undefined;
}

/** Whether a service has no cluster IP. */
export const isHeadless = ({ spec }: Service): boolean => spec?.clusterIP === "None";
