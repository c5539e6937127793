import { isIPv4, isIPv6 } from "node:net";
import { ApiError, type FieldError, invalid, timestamp } from "@konverge/core";
import { invalidValue } from "@konverge/schema";
import type { Service } from "../../../codec/objects.ts";
import type { WorkingObject } from "../../../codec/working-object.ts";
import type { StrategyCall } from "../../definition.ts";
import { contentOf, objectOf } from "../../stored-object.ts";
import { clusterIpErrors } from "./cluster-ip-errors.ts";
import { isHeadless, needsAddress } from "./service-kinds.ts";

/** Where addresses come from: 10.96.0.0/16, as kubeadm sets clusters up. */
const RANGE = { prefix: "10.96.", hosts: 2 ** 16 - 2 };
/** Addresses that are asked for by name come from the lower part as long as the upper one has room. */
const FIRST_CHOSEN = 257;
const ADDRESSES = "networking.k8s.io/ipaddresses";

/**
 * Gives a service its address and says of which family it is. What is taken is known from the IPAddress objects that
 * every stored service has.
 */
export function allocateAddress(call: StrategyCall, service: Service, old?: Service): void {
  if (!needsAddress(service)) return;
  settleFamilies(service, old);
  const { spec, metadata } = service;
  if (!spec || isHeadless(service)) return;
  const held = new Set(old?.spec?.clusterIPs ?? []);
  const wanted = spec.clusterIPs?.[0];
  if (wanted !== undefined && held.has(wanted)) return;
  if (wanted === undefined) {
    const address = freeAddress(call);
    spec.clusterIP = address;
    spec.clusterIPs = [address];
    return;
  }
  const refuse = (why: string) => {
    const error = invalidValue("spec.clusterIPs", spec.clusterIPs, `failed to allocate IP ${wanted}: ${why}`);
    return invalid({ group: "", kind: "Service" }, metadata.name, [error]);
  };
  if (!wanted.startsWith(RANGE.prefix)) {
    throw refuse("the provided network does not match the current range");
  }
  if (call.store.collection(ADDRESSES).get(wanted)) throw refuse("provided IP is already allocated");
}

function freeAddress({ store, clock }: StrategyCall): string {
  const taken = store.collection(ADDRESSES);
  const start = clock.random.below(RANGE.hosts - FIRST_CHOSEN);
  for (let step = 0; step < RANGE.hosts; step++) {
    const number = ((start + step + FIRST_CHOSEN - 1) % RANGE.hosts) + 1;
    const address = `${RANGE.prefix}${number >> 8}.${number & 255}`;
    if (!taken.get(address)) return address;
  }
  throw new ApiError({
    code: 500,
    reason: "InternalError",
    message: "Internal error occurred: failed to allocate a serviceIP: range is full",
  });
}

/** Families and policy as they follow from each other and from the addresses; the cluster has IPv4 alone. */
function settleFamilies(service: Service, old: Service | undefined): void {
  const { spec, metadata } = service;
  if (!spec) return;
  const isBare = spec.clusterIP === "None" && Object.keys(spec.selector ?? {}).length === 0;
  spec.ipFamilyPolicy ??= old?.spec?.ipFamilyPolicy ?? (isBare ? "RequireDualStack" : "SingleStack");
  const early = clusterIpErrors(service);
  if (early.length > 0) throw invalid({ group: "", kind: "Service" }, metadata.name, early);
  const single = spec.ipFamilyPolicy === "SingleStack";
  const errors: FieldError[] = [];
  const policyError = (detail: string) => errors.push(invalidValue("spec.ipFamilyPolicy", spec.ipFamilyPolicy, detail));
  if (single && spec.clusterIPs?.length === 2) {
    policyError("must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified");
  }
  if (single && spec.ipFamilies?.length === 2) {
    policyError("must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified");
  }
  spec.clusterIPs?.forEach((address, index) => {
    if (address === "None" || index < (spec.ipFamilies?.length ?? 0)) return;
    if (isIPv4(address)) spec.ipFamilies = [...(spec.ipFamilies ?? []), "IPv4"];
    else if (isIPv6(address)) {
      const detail = "IPv6 is not configured on this cluster";
      errors.push(invalidValue(`spec.clusterIPs[${index}]`, spec.clusterIPs, detail));
    }
  });
  const fail = () => {
    if (errors.length > 0) throw invalid({ group: "", kind: "Service" }, metadata.name, errors);
  };
  fail();
  if (isBare) {
    spec.ipFamilies = spec.ipFamilies?.length ? spec.ipFamilies : ["IPv4"];
    if (spec.ipFamilies.length < 2 && !single) {
      spec.ipFamilies = [...spec.ipFamilies, spec.ipFamilies[0] === "IPv4" ? "IPv6" : "IPv4"];
    }
    return;
  }
  if (spec.ipFamilyPolicy === "RequireDualStack") policyError("this cluster is not configured for dual-stack services");
  spec.ipFamilies?.forEach((family, index) => {
    if (family !== "IPv4") {
      errors.push(invalidValue(`spec.ipFamilies[${index}]`, family, "not configured on this cluster"));
    }
  });
  fail();
  if (!spec.ipFamilies?.length) spec.ipFamilies = ["IPv4"];
}

/** Keeps the IPAddress objects in step with the services that are stored. */
export function recordAddress(call: StrategyCall, service: Service | undefined, old: Service | undefined): void {
  const now = addressOf(service);
  const before = addressOf(old);
  if (now === before) return;
  const definition = call.registry.get("networking.k8s.io", "ipaddresses")!;
  const entry = before === undefined ? undefined : call.store.collection(ADDRESSES).get(before);
  if (entry) call.store.remove(ADDRESSES, entry.key, contentOf(definition, objectOf(entry)));
  if (now === undefined || call.store.collection(ADDRESSES).get(now)) return;
  call.store.put(ADDRESSES, now, contentOf(definition, addressObject(call, now, service!)));
}

function addressOf(service: Service | undefined): string | undefined {
  const address = service?.spec?.clusterIPs?.[0];
  return address === undefined || address === "None" ? undefined : address;
}

function addressObject({ clock }: StrategyCall, address: string, { metadata }: Service): WorkingObject {
  const time = timestamp(clock);
  const labels = {
    "ipaddress.kubernetes.io/ip-family": "IPv4",
    "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
  };
  const owned = (names: string[]) => Object.fromEntries([[".", {}], ...names.map((name) => [`f:${name}`, {}])]);
  return {
    kind: "IPAddress",
    apiVersion: "networking.k8s.io/v1",
    metadata: {
      name: address,
      uid: clock.random.uuid(),
      creationTimestamp: time,
      labels,
      managedFields: [
        {
          manager: "kube-apiserver",
          operation: "Update",
          apiVersion: "networking.k8s.io/v1",
          time,
          fieldsType: "FieldsV1",
          fieldsV1: {
            "f:metadata": { "f:labels": owned(Object.keys(labels)) },
            "f:spec": { "f:parentRef": owned(["name", "namespace", "resource"]) },
          },
        },
      ],
    },
    spec: { parentRef: { resource: "services", namespace: metadata.namespace, name: metadata.name } },
  };
}
