import { ApiError, invalid } from "@konverge/core";
import { invalidValue } from "@konverge/schema";
import type { Service, ServicePort } from "../../../codec/objects.ts";
import type { StrategyCall } from "../../definition.ts";
import { objectOf } from "../../stored-object.ts";
import { needsHealthCheck, needsNodePorts } from "./service-kinds.ts";

const FIRST = 30_000;
const LAST = 32_767;
/** Ports that are asked for by number come from below this as long as there is room above. */
const FIRST_CHOSEN = FIRST + 86;
/** A dry run allocates nothing: it returns ports beyond the range that no service can have. */
const FIRST_OF_DRY_RUNS = LAST + 2;

/** Gives a service those of its node ports that it has not asked for by number; refuses what others have. */
export function allocateNodePorts(call: StrategyCall, service: Service, old?: Service): void {
  const { spec, metadata } = service;
  if (!spec) return;
  const held = new Set(portsOf(old));
  let taken: Set<number> | undefined;
  let nextDryPort = FIRST_OF_DRY_RUNS;
  const isTaken = (port: number): boolean => {
    taken ??= takenPorts(call, metadata);
    return taken.has(port);
  };
  const take = (port: number | undefined, field: string): number => {
    if (!port) {
      const chosen = call.dryRun ? nextDryPort++ : freePort(call, isTaken);
      taken?.add(chosen);
      return chosen;
    }
    if (held.has(port)) return port;
    const refuse = (why: string) =>
      invalid({ group: "", kind: "Service" }, metadata.name, [invalidValue(field, port, why)]);
    if (port < FIRST || port > LAST) {
      throw refuse(`provided port is not in the valid range. The range of valid ports is ${FIRST}-${LAST}`);
    }
    if (isTaken(port)) throw refuse("provided port is already allocated");
    return port;
  };
  if (needsNodePorts(service)) {
    const byNumber = new Map<number, number>();
    spec.ports?.forEach((port, index) => {
      // One number serves a port of several protocols.
      const twin = byNumber.get(port.port);
      port.nodePort = !port.nodePort && twin ? twin : take(port.nodePort, `spec.ports[${index}].nodePort`);
      byNumber.set(port.port, port.nodePort);
    });
  } else if (spec.type === "LoadBalancer") {
    spec.ports?.forEach((port, index) => {
      if (port.nodePort) take(port.nodePort, `spec.ports[${index}].nodePort`);
    });
  }
  if (needsHealthCheck(service)) {
    spec.healthCheckNodePort = take(spec.healthCheckNodePort, "spec.healthCheckNodePort");
  }
}

function portsOf(service: Service | undefined): number[] {
  const ports = [
    ...(service?.spec?.ports ?? []).map(({ nodePort }: ServicePort) => nodePort),
    service?.spec?.healthCheckNodePort,
  ];
  return ports.filter((port): port is number => !!port);
}

/** The ports of all other services. Most have none, and are skipped without being parsed. */
function takenPorts(call: StrategyCall, { namespace, name }: Service["metadata"]): Set<number> {
  const taken = new Set<number>();
  for (const entry of call.store.collection("/services").scan("")) {
    const type = entry.fields?.["spec.type"];
    if ((type !== "NodePort" && type !== "LoadBalancer") || entry.key === `${namespace}/${name}`) continue;
    for (const port of portsOf(objectOf(entry) as unknown as Service)) taken.add(port);
  }
  return taken;
}

function freePort({ clock }: StrategyCall, isTaken: (port: number) => boolean): number {
  const count = LAST - FIRST_CHOSEN + 1;
  const start = clock.random.below(count);
  for (let step = 0; step < count; step++) {
    const port = FIRST_CHOSEN + ((start + step) % count);
    if (!isTaken(port)) return port;
  }
  for (let port = FIRST; port < FIRST_CHOSEN; port++) if (!isTaken(port)) return port;
  const message = "Internal error occurred: failed to allocate a nodePort: range is full";
  throw new ApiError({ code: 500, reason: "InternalError", message });
}
