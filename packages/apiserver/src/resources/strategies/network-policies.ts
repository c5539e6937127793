import { BlockList } from "node:net";
import { append, type FieldError, type LabelSelector, portNameErrors, portNumberErrors } from "@konverge/core";
import { forbidden, invalidValue, notSupported, required } from "@konverge/schema";
import type { NetworkPolicy, NetworkPolicyPort, Stored } from "../../codec/objects.ts";
import type { Strategy } from "../definition.ts";
import { BAD_CIDR, parseCidr } from "./cidrs.ts";
import { named } from "./pod-spec/checks.ts";
import { labelSelectorErrors } from "./selectors.ts";

interface Peer {
  podSelector?: LabelSelector;
  namespaceSelector?: LabelSelector;
  ipBlock?: { cidr: string; except?: string[] };
}

const PROTOCOLS = ["TCP", "UDP", "SCTP"];

export const networkPolicy: Strategy = {
  defaults({ spec }: Stored<NetworkPolicy>) {
    if (!spec || spec.policyTypes?.length) return;
    spec.policyTypes = spec.egress?.length ? ["Ingress", "Egress"] : ["Ingress"];
  },
  validate({ spec }: Stored<NetworkPolicy>) {
    if (!spec) return [];
    const errors = labelSelectorErrors((spec.podSelector ?? {}) as LabelSelector, "spec.podSelector");
    spec.ingress?.forEach(({ ports, from }, index) => {
      append(errors, ruleErrors(ports ?? [], (from ?? []) as Peer[], `spec.ingress[${index}]`, "from"));
    });
    spec.egress?.forEach(({ ports, to }, index) => {
      append(errors, ruleErrors(ports ?? [], (to ?? []) as Peer[], `spec.egress[${index}]`, "to"));
    });
    const types = spec.policyTypes ?? [];
    if (types.length > 2) {
      return [...errors, invalidValue("spec.policyTypes", types, "may not specify more than two policyTypes")];
    }
    types.forEach((type, index) => {
      if (type === "Ingress" || type === "Egress") return;
      errors.push(notSupported(`spec.policyTypes[${index}]`, type, ["Ingress", "Egress"]));
    });
    return errors;
  },
};

function ruleErrors(
  ports: readonly NetworkPolicyPort[],
  peers: readonly Peer[],
  field: string,
  direction: string,
): FieldError[] {
  return [
    ...ports.flatMap((port, index) => portErrors(port, `${field}.ports[${index}]`)),
    ...peers.flatMap((peer, index) => peerErrors(peer, `${field}.${direction}[${index}]`)),
  ];
}

function portErrors({ protocol, port, endPort }: NetworkPolicyPort, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const end = (value: unknown, detail: string) => errors.push(invalidValue(`${field}.endPort`, value, detail));
  if (protocol !== undefined && !PROTOCOLS.includes(protocol)) {
    errors.push(notSupported(`${field}.protocol`, protocol, PROTOCOLS));
  }
  if (port === undefined) {
    if (endPort !== undefined) end(endPort, "may not be specified when `port` is not specified");
  } else if (typeof port === "number") {
    for (const detail of portNumberErrors(port)) errors.push(invalidValue(`${field}.port`, port, detail));
    // The real server shows the port here, not its end.
    if (endPort !== undefined && endPort < port) end(port, "must be greater than or equal to `port`");
    for (const detail of endPort === undefined ? [] : portNumberErrors(endPort)) end(endPort, detail);
  } else {
    if (endPort !== undefined) end(endPort, "may not be specified when `port` is non-numeric");
    append(errors, named(`${field}.port`, port, portNameErrors(port)));
  }
  return errors;
}

function peerErrors(peer: Peer, field: string): FieldError[] {
  const { podSelector, namespaceSelector, ipBlock } = peer;
  const errors = [
    ...(podSelector ? labelSelectorErrors(podSelector, `${field}.podSelector`) : []),
    ...(namespaceSelector ? labelSelectorErrors(namespaceSelector, `${field}.namespaceSelector`) : []),
    ...(ipBlock ? blockErrors(ipBlock, `${field}.ipBlock`) : []),
  ];
  if (!podSelector && !namespaceSelector && !ipBlock) errors.push(required(field, "must specify a peer"));
  else if (ipBlock && (podSelector || namespaceSelector)) {
    errors.push(forbidden(field, "may not specify both ipBlock and another peer"));
  }
  return errors;
}

function blockErrors({ cidr, except = [] }: NonNullable<Peer["ipBlock"]>, field: string): FieldError[] {
  if (!cidr) return [required(`${field}.cidr`)];
  const block = parseCidr(cidr);
  if (!block) return [invalidValue(`${field}.cidr`, cidr, BAD_CIDR)];
  const list = new BlockList();
  list.addSubnet(block.address, block.length, block.family);
  return except.flatMap((text, index) => {
    const at = `${field}.except[${index}]`;
    const part = parseCidr(text);
    if (!part) return [invalidValue(at, text, BAD_CIDR)];
    const isWithin = part.family === block.family && list.check(part.address, part.family);
    if (isWithin && part.length > block.length) return [];
    return [invalidValue(at, text, "must be a strict subset of `cidr`")];
  });
}
