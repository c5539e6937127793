import { isIP } from "node:net";
import {
  append,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  type FieldError,
  portNameErrors,
  portNumberErrors,
  qualifiedNameErrors,
} from "@konverge/core";
import { duplicate, forbidden, invalidValue, labelErrors, notSupported, required } from "@konverge/schema";
import type { Service, ServicePort } from "../../../codec/objects.ts";
import { BAD_CIDR, parseCidr } from "../cidrs.ts";
import { clusterIpErrors } from "./cluster-ip-errors.ts";
import { isExternal, isHeadless, needsHealthCheck } from "./service-kinds.ts";

const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const BAD_IP = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

/** All that is wrong with a service, in the order in which a real server says it. */
export function serviceErrors(service: Service): FieldError[] {
  const { spec } = service;
  if (!spec) return [];
  const { type = "", ports = [], sessionAffinity = "", clusterIPs = [] } = spec;
  const errors: FieldError[] = [];
  const headless = isHeadless(service);
  if (ports.length === 0 && !headless && type !== "ExternalName") errors.push(required("spec.ports"));
  if (headless && (type === "LoadBalancer" || type === "NodePort")) {
    errors.push(invalidValue("spec.clusterIPs[0]", clusterIPs[0], `may not be set to 'None' for ${type} services`));
  }
  if (type === "ExternalName") append(errors, externalNameErrors(service));
  const names = new Set<string>();
  append(
    errors,
    ports.flatMap((port, index) => portErrors(port, `spec.ports[${index}]`, ports.length > 1, names)),
  );
  if (spec.selector) append(errors, labelErrors(spec.selector, "spec.selector"));
  append(errors, affinityErrors(service, sessionAffinity));
  append(errors, clusterIpErrors(service));
  spec.externalIPs?.forEach((ip, index) => {
    if (isIP(ip) === 0) errors.push(invalidValue(`spec.externalIPs[${index}]`, ip, BAD_IP));
  });
  if (type === "") errors.push(required("spec.type"));
  else if (!TYPES.includes(type)) errors.push(notSupported("spec.type", type, TYPES));
  append(errors, portUseErrors(type, ports));
  spec.loadBalancerSourceRanges?.forEach((range, index) => {
    const field = "spec.LoadBalancerSourceRanges";
    if (index === 0 && type !== "LoadBalancer") {
      errors.push(forbidden(field, "may only be used when `type` is 'LoadBalancer'"));
    }
    if (!parseCidr(range.trim())) errors.push(invalidValue(`${field}[${index}]`, range.trim(), BAD_CIDR));
  });
  const onlyBalanced = (field: "allocateLoadBalancerNodePorts" | "loadBalancerClass") => {
    if (spec[field] === undefined || type === "LoadBalancer") return;
    errors.push(forbidden(`spec.${field}`, "may only be used when `type` is 'LoadBalancer'"));
  };
  onlyBalanced("allocateLoadBalancerNodePorts");
  onlyBalanced("loadBalancerClass");
  if (type === "LoadBalancer" && spec.loadBalancerClass !== undefined) {
    for (const detail of qualifiedNameErrors(spec.loadBalancerClass)) {
      errors.push(invalidValue("spec.loadBalancerClass", spec.loadBalancerClass, detail));
    }
  }
  append(errors, trafficErrors(service));
  return errors;
}

/** What an update may not change. */
export function serviceUpdateErrors(service: Service, old: Service): FieldError[] {
  const { spec } = service;
  const before = old.spec;
  if (!spec || !before) return [];
  const errors: FieldError[] = [];
  const hasNoAddress = spec.type === "ExternalName" || before.type === "ExternalName";
  if (!hasNoAddress && !(isHeadless(service) && isHeadless(old))) {
    const now = spec.clusterIPs ?? [];
    (before.clusterIPs ?? []).forEach((ip, index) => {
      if (index < now.length && now[index] !== ip) {
        errors.push(invalidValue(`spec.clusterIPs[${index}]`, now, "may not change once set"));
      }
    });
    if ((before.clusterIPs?.length ?? 0) > 0 && now.length === 0) {
      errors.push(invalidValue("spec.clusterIPs[0]", now, "primary clusterIP can not be unset"));
    }
  }
  if (before.type === "LoadBalancer" && spec.type === "LoadBalancer") {
    if (spec.loadBalancerClass !== before.loadBalancerClass) {
      errors.push(invalidValue("spec.loadBalancerClass", spec.loadBalancerClass ?? null, "may not change once set"));
    }
  }
  if (needsHealthCheck(old) && needsHealthCheck(service) && spec.healthCheckNodePort !== before.healthCheckNodePort) {
    errors.push(forbidden("spec.healthCheckNodePort", "field is immutable"));
  }
  return errors;
}

function externalNameErrors({ spec }: Service): FieldError[] {
  const { clusterIPs = [], ipFamilies = [], ipFamilyPolicy, externalName = "" } = spec!;
  const detail = "may not be set for ExternalName services";
  const name = externalName.replace(/\.$/, "");
  return [
    ...(clusterIPs.length > 0 ? [forbidden("spec.clusterIPs", detail)] : []),
    ...(ipFamilies.length > 0 ? [forbidden("spec.ipFamilies", detail)] : []),
    ...(ipFamilyPolicy !== undefined ? [forbidden("spec.ipFamilyPolicy", detail)] : []),
    ...(name === ""
      ? [required("spec.externalName")]
      : dns1123SubdomainErrors(name).map((text) => invalidValue("spec.externalName", name, text))),
  ];
}

function portErrors(port: ServicePort, field: string, needsName: boolean, names: Set<string>): FieldError[] {
  const errors: FieldError[] = [];
  const { name = "", protocol = "", targetPort } = port;
  if (name === "" && needsName) errors.push(required(`${field}.name`));
  if (name !== "") {
    for (const detail of dns1123LabelErrors(name)) errors.push(invalidValue(`${field}.name`, name, detail));
    if (names.has(name)) errors.push(duplicate(`${field}.name`, name));
    names.add(name);
  }
  for (const detail of portNumberErrors(port.port)) errors.push(invalidValue(`${field}.port`, port.port, detail));
  const protocols = ["SCTP", "TCP", "UDP"];
  if (protocol === "") errors.push(required(`${field}.protocol`));
  else if (!protocols.includes(protocol)) errors.push(notSupported(`${field}.protocol`, protocol, protocols));
  const details = typeof targetPort === "string" ? portNameErrors(targetPort) : portNumberErrors(targetPort ?? 0);
  for (const detail of details) errors.push(invalidValue(`${field}.targetPort`, targetPort ?? 0, detail));
  if (port.appProtocol !== undefined) {
    for (const detail of qualifiedNameErrors(port.appProtocol)) {
      errors.push(invalidValue(`${field}.appProtocol`, port.appProtocol, detail));
    }
  }
  return errors;
}

const LONGEST_AFFINITY = 86_400;

function affinityErrors({ spec }: Service, affinity: string): FieldError[] {
  const field = "spec.sessionAffinityConfig";
  if (affinity === "") return [required("spec.sessionAffinity")];
  if (affinity === "None") {
    const detail = "must not be set when session affinity is None";
    return spec?.sessionAffinityConfig ? [forbidden(field, detail)] : [];
  }
  if (affinity !== "ClientIP") return [notSupported("spec.sessionAffinity", affinity, ["ClientIP", "None"])];
  const seconds = spec?.sessionAffinityConfig?.clientIP?.timeoutSeconds;
  if (seconds === undefined) return [required(field, "when session affinity type is ClientIP")];
  if (seconds > 0 && seconds <= LONGEST_AFFINITY) return [];
  const detail = `must be greater than 0 and less than or equal to ${LONGEST_AFFINITY}`;
  return [invalidValue(`${field}.clientIP.timeoutSeconds`, seconds, detail)];
}

function portUseErrors(type: string, ports: readonly ServicePort[]): FieldError[] {
  const errors: FieldError[] = [];
  if (type === "ClusterIP") {
    ports.forEach(({ nodePort }, index) => {
      const detail = "may not be used when `type` is 'ClusterIP'";
      if (nodePort) errors.push(forbidden(`spec.ports[${index}].nodePort`, detail));
    });
  }
  const nodePorts = new Set<string>();
  ports.forEach(({ nodePort, protocol }, index) => {
    if (!nodePort) return;
    const key = `${protocol}/${nodePort}`;
    if (nodePorts.has(key)) errors.push(duplicate(`spec.ports[${index}].nodePort`, nodePort));
    nodePorts.add(key);
  });
  const numbers = new Set<string>();
  ports.forEach(({ port, protocol }, index) => {
    const key = `${protocol}/${port}`;
    if (numbers.has(key)) errors.push(duplicatePort(`spec.ports[${index}]`, port, protocol));
    numbers.add(key);
  });
  return errors;
}

/** Go shows the port with the names that fields have there. */
function duplicatePort(field: string, port: number, protocol = ""): FieldError {
  const shown = `{"Name":"","Protocol":"${protocol}","AppProtocol":null,"Port":${port},"TargetPort":0,"NodePort":0}`;
  return { reason: "FieldValueDuplicate", field, message: `Duplicate value: ${shown}` };
}

function trafficErrors(service: Service): FieldError[] {
  const {
    externalTrafficPolicy = "",
    healthCheckNodePort,
    internalTrafficPolicy,
    type,
    trafficDistribution,
  } = service.spec!;
  const errors: FieldError[] = [];
  const policies = ["Cluster", "Local"];
  const field = "spec.externalTrafficPolicy";
  if (!isExternal(service)) {
    const detail = "may only be set for externally-accessible services";
    if (externalTrafficPolicy !== "") errors.push(invalidValue(field, externalTrafficPolicy, detail));
  } else if (externalTrafficPolicy === "") errors.push(required(field));
  else if (!policies.includes(externalTrafficPolicy)) errors.push(notSupported(field, externalTrafficPolicy, policies));
  if (!needsHealthCheck(service) && healthCheckNodePort) {
    const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    errors.push(invalidValue("spec.healthCheckNodePort", healthCheckNodePort, detail));
  }
  if (type !== "ExternalName") {
    if (internalTrafficPolicy === undefined) errors.push(required("spec.internalTrafficPolicy"));
    else if (!policies.includes(internalTrafficPolicy)) {
      errors.push(notSupported("spec.internalTrafficPolicy", internalTrafficPolicy, policies));
    }
  }
  const distributions = ["PreferClose", "PreferSameZone", "PreferSameNode"];
  if (trafficDistribution !== undefined && !distributions.includes(trafficDistribution)) {
    errors.push(notSupported("spec.trafficDistribution", trafficDistribution, distributions));
  }
  return errors;
}
