import { deepEqual, dns1123LabelErrors, maskTrailingDash } from "@konverge/core";
import type { Service, ServiceSpec, Stored } from "../../../codec/objects.ts";
import type { Strategy } from "../../definition.ts";

import { allocateAddress, recordAddress } from "./addresses.ts";
import { allocateNodePorts } from "./node-ports.ts";
import { serviceErrors, serviceUpdateErrors } from "./service-errors.ts";
import { isExternal, needsAddress, needsHealthCheck, needsNodePorts } from "./service-kinds.ts";

/** Services: addresses and ports are given to them, and released when their type has no use for them. */
export const service: Strategy = {
  defaults(object: Stored<Service>) {
    const { spec, status } = object;
    if (!spec) return;
    for (const port of spec.ports ?? []) {
      if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === "") port.targetPort = port.port;
    }
    if (spec.sessionAffinity === "ClientIP") {
      spec.sessionAffinityConfig ??= {};
      spec.sessionAffinityConfig.clientIP ??= {};
      spec.sessionAffinityConfig.clientIP.timeoutSeconds ??= 10_800;
    } else if (spec.sessionAffinity === "None") delete spec.sessionAffinityConfig;
    if (isExternal(object)) spec.externalTrafficPolicy ||= "Cluster";
    if (spec.type !== "ExternalName") spec.internalTrafficPolicy ??= "Cluster";
    if (spec.type === "LoadBalancer") spec.allocateLoadBalancerNodePorts ??= true;
    for (const ingress of status?.loadBalancer?.ingress ?? []) if (ingress.ip) ingress.ipMode ??= "VIP";
  },
  nameErrors: (name, isPrefix) => dns1123LabelErrors(isPrefix ? maskTrailingDash(name) : name),
  prepareForCreate(object: Stored<Service>, { call }) {
    const { spec } = object;
    if (spec?.clusterIP && !spec.clusterIPs?.length) spec.clusterIPs = [spec.clusterIP];
    allocateAddress(call, object);
    allocateNodePorts(call, object);
  },
  prepareForUpdate(object: Stored<Service>, old: Stored<Service>, { call, subresource }) {
    if (subresource === "status") return;
    dropUnused(object, old);
    keepAllocated(object, old);
    followAddress(object.spec!, old.spec!);
    allocateAddress(call, object, old);
    allocateNodePorts(call, object, old);
  },
  validate: (object: Stored<Service>) => serviceErrors(object),
  validateUpdate: (object: Stored<Service>, old: Stored<Service>) => serviceUpdateErrors(object, old),
  validateStatusUpdate: () => [],
  afterWrite: (object, old, { call }) => recordAddress(call, object as Service | undefined, old as Service | undefined),
  fields: ({ spec }: Stored<Service>) => ({ "spec.clusterIP": spec?.clusterIP ?? "", "spec.type": spec?.type ?? "" }),
};

/** What a new type has no use for goes, unless the same request has changed it: then validation is to say so. */
function dropUnused(object: Service, old: Service): void {
  const spec = object.spec!;
  const before = old.spec!;
  const same = (field: keyof ServiceSpec) => deepEqual(spec[field], before[field]);
  if (needsAddress(old) && !needsAddress(object)) {
    if (same("clusterIP") && same("clusterIPs")) {
      delete spec.clusterIP;
      delete spec.clusterIPs;
    }
    if (same("ipFamilies")) delete spec.ipFamilies;
    if (same("ipFamilyPolicy")) delete spec.ipFamilyPolicy;
    if (same("internalTrafficPolicy")) delete spec.internalTrafficPolicy;
  }
  const nodePorts = ({ ports = [] }: ServiceSpec) => ports.map(({ nodePort = 0 }) => nodePort);
  if (needsNodePorts(old) && !needsNodePorts(object) && deepEqual(nodePorts(spec), nodePorts(before))) {
    for (const port of spec.ports ?? []) delete port.nodePort;
  }
  if (needsHealthCheck(old) && !needsHealthCheck(object) && same("healthCheckNodePort"))
    delete spec.healthCheckNodePort;
  if (before.type === "LoadBalancer" && spec.type !== "LoadBalancer") {
    if (same("allocateLoadBalancerNodePorts")) delete spec.allocateLoadBalancerNodePorts;
    if (same("loadBalancerClass")) delete spec.loadBalancerClass;
  }
  if (isExternal(old) && !isExternal(object) && same("externalTrafficPolicy")) delete spec.externalTrafficPolicy;
  if (spec.type !== "LoadBalancer") object.status = { ...object.status, loadBalancer: {} };
}

/** A replacement that does not know what was allocated keeps it. */
function keepAllocated(object: Service, old: Service): void {
  const spec = object.spec!;
  const before = old.spec!;
  if (needsAddress(old) && needsAddress(object)) {
    if (!spec.clusterIP && before.clusterIP) spec.clusterIP = before.clusterIP;
    if (!spec.clusterIPs?.length && before.clusterIPs?.length) spec.clusterIPs = before.clusterIPs;
  }
  if (needsNodePorts(old) && needsNodePorts(object)) {
    const byName = new Map((before.ports ?? []).map(({ name = "", nodePort }) => [name, nodePort]));
    const kept = new Set((spec.ports ?? []).map(({ nodePort }) => nodePort));
    for (const port of spec.ports ?? []) {
      const known = byName.get(port.name ?? "");
      if (!port.nodePort && known && !kept.has(known)) port.nodePort = known;
    }
  }
  if (needsHealthCheck(old) && needsHealthCheck(object) && !spec.healthCheckNodePort && before.healthCheckNodePort) {
    spec.healthCheckNodePort = before.healthCheckNodePort;
  }
}

/** Clients that set only the one address mean a list of one. */
function followAddress(spec: ServiceSpec, before: ServiceSpec): void {
  if (spec.clusterIP === before.clusterIP || !deepEqual(spec.clusterIPs ?? [], before.clusterIPs ?? [])) return;
  if (spec.clusterIP) spec.clusterIPs = [spec.clusterIP];
  else delete spec.clusterIPs;
}
