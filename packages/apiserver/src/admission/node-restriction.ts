import { deepEqual, notFound, parseJson, quoted } from "@konverge/core";
import { nodeIdentity } from "../auth/user.ts";
import type { PersistentVolumeClaim, Pod } from "../codec/objects.ts";
import { type AdmissionAttributes, type AdmissionPlugin, refusal } from "./attributes.ts";
import { checkNodeRequest, checkTokenRequest } from "./node-identity.ts";
import { forbiddenNodeLabels } from "./node-labels.ts";
import { referenceOfPod } from "./pod-references.ts";

const MIRROR = "kubernetes.io/config.mirror";
const NODE_LEASES = "kube-node-lease";

/** A check of one write by a node. */
type Check = (attributes: AdmissionAttributes, node: string) => void;

/**
 * A kubelet writes about its own node and the pods on it, and about nothing else. The authorizer of nodes relies on it: it
 * knows requests, not what they contain.
 */
export const nodeRestriction: AdmissionPlugin = {
  name: "NodeRestriction",
  handles: ({ call }) => nodeIdentity(call.user) !== undefined,
  mutate(attributes) {
    const node = nodeIdentity(attributes.call.user);
    if (!node) {
      throw refusal(attributes, `could not determine node from user ${quoted(attributes.call.user.name)}`);
    }
    CHECKS[`${attributes.group}/${attributes.resource}`]?.(attributes, node);
  },
};

const CHECKS: Record<string, Check> = {
  "/pods": checkPods,
  "/nodes": checkNodes,
  "/persistentvolumeclaims": checkClaims,
  "/serviceaccounts": checkTokenRequest,
  "coordination.k8s.io/leases": checkLeases,
  "storage.k8s.io/csinodes": checkOwnName("CSINode with the same name as the requesting node"),
  "resource.k8s.io/resourceslices": checkSlices,
  "certificates.k8s.io/certificatesigningrequests": checkNodeRequest,
};

function checkPods(attributes: AdmissionAttributes, node: string): void {
  const { operation, subresource } = attributes;
  if (subresource === "status") {
    checkPodStatus(attributes, node);
    return;
  }
  if (subresource === "eviction") {
    if (podNamed(attributes).spec.nodeName === node) return;
    throw refusal(attributes, `node ${node} can only evict pods with spec.nodeName set to itself`);
  }
  if (subresource !== "") {
    const why = `unexpected pod subresource ${quoted(subresource)}, only 'status' and 'eviction' are allowed`;
    throw refusal(attributes, why);
  }
  if (operation === "CREATE") {
    checkMirrorPod(attributes, node);
    return;
  }
  if (operation === "DELETE") {
    if (podNamed(attributes).spec.nodeName === node) return;
    throw refusal(attributes, `node ${quoted(node)} can only delete pods with spec.nodeName set to itself`);
  }
  const why = `unexpected operation ${quoted(operation)}, node ${quoted(node)} can only create and delete mirror pods`;
  throw refusal(attributes, why);
}

function podNamed({ call, namespace, name }: AdmissionAttributes): Pod {
  const entry = call.store.collection("/pods").get(`${namespace}/${name}`);
  if (!entry) throw notFound({ group: "", plural: "pods" }, name);
  return parseJson(entry.text) as Pod;
}

function checkMirrorPod(attributes: AdmissionAttributes, node: string): void {
  const pod = attributes.object as unknown as Pod;
  const only = (what: string) => refusal(attributes, `node ${quoted(node)} can only create pods with ${what}`);
  if (pod.metadata.annotations?.[MIRROR] === undefined) {
    const why = `pod does not have ${quoted(MIRROR)} annotation, node ${quoted(node)} can only create mirror pods`;
    throw refusal(attributes, why);
  }
  if (pod.spec.nodeName !== node) throw only("spec.nodeName set to itself");
  const owners = pod.metadata.ownerReferences ?? [];
  if (owners.length > 1) throw only("a single owner reference set to itself");
  const [owner] = owners;
  if (owner?.apiVersion !== "v1" || owner.kind !== "Node" || owner.name !== node) {
    throw only("an owner reference set to itself");
  }
  if (!owner.controller) throw only("a controller owner reference set to itself");
  if (owner.blockOwnerDeletion) {
    throw refusal(attributes, `node ${quoted(node)} must not set blockOwnerDeletion on an owner reference`);
  }
  const entry = attributes.call.store.collection("/nodes").get(node);
  if (!entry) throw notFound({ group: "", plural: "nodes" }, node);
  if (entry.uid !== owner.uid) {
    throw refusal(attributes, `node ${node} UID mismatch: expected ${owner.uid} got ${entry.uid}`);
  }
  const reference = referenceOfPod(pod);
  if (reference) throw refusal(attributes, `node ${quoted(node)} can not create pods that reference ${reference}`);
}

function checkPodStatus(attributes: AdmissionAttributes, node: string): void {
  if (attributes.operation !== "UPDATE") {
    throw refusal(attributes, `unexpected operation ${quoted(attributes.operation)}`);
  }
  const [before, after] = [attributes.old, attributes.object] as unknown as [Pod, Pod];
  if (before.spec.nodeName !== node) {
    const why = `node ${quoted(node)} can only update pod status for pods with spec.nodeName set to itself`;
    throw refusal(attributes, why);
  }
  const cannot = (what: string) => refusal(attributes, `node ${quoted(node)} cannot update ${what}`);
  if (!deepEqual(before.metadata.labels ?? {}, after.metadata.labels ?? {})) throw cannot("labels through pod status");
  if (!deepEqual(before.status?.resourceClaimStatuses ?? [], after.status?.resourceClaimStatuses ?? [])) {
    throw cannot("resource claim statues");
  }
  if (!deepEqual(before.status?.extendedResourceClaimStatus, after.status?.extendedResourceClaimStatus)) {
    throw cannot("extended resource claim status");
  }
}

function checkNodes(attributes: AdmissionAttributes, node: string): void {
  const { name, operation, object, old } = attributes;
  const cannot = (what: string) => refusal(attributes, `node ${quoted(node)} is not allowed to ${what}`);
  if (name !== node) throw cannot(`modify node ${quoted(name)}`);
  if (operation !== "CREATE" && operation !== "UPDATE") return;
  const spec = (of: typeof object) => (of?.["spec"] ?? {}) as { taints?: unknown[]; configSource?: unknown };
  const { configSource } = spec(object);
  if (operation === "UPDATE") {
    if (configSource !== undefined && !deepEqual(configSource, spec(old).configSource)) {
      throw cannot("update configSource to a new non-nil configSource");
    }
    if (!deepEqual(spec(object).taints ?? [], spec(old).taints ?? [])) throw cannot("modify taints");
    if (!deepEqual(object!.metadata.ownerReferences ?? [], old!.metadata.ownerReferences ?? [])) {
      throw cannot("modify ownerReferences");
    }
  } else if (configSource !== undefined) throw cannot("create pods with a non-nil configSource");
  const labels = forbiddenNodeLabels(object?.metadata.labels, old?.metadata.labels);
  if (labels.length === 0) return;
  if (operation === "CREATE") throw cannot(`set the following labels: ${labels.join(", ")}`);
  throw refusal(attributes, `is not allowed to modify labels: ${labels.join(", ")}`);
}

function checkClaims(attributes: AdmissionAttributes, node: string): void {
  if (attributes.subresource !== "status") throw refusal(attributes, "may only update PVC status");
  if (attributes.operation !== "UPDATE") {
    throw refusal(attributes, `unexpected operation ${quoted(attributes.operation)}`);
  }
  const rest = (object: AdmissionAttributes["object"]) => {
    const { metadata, status = {}, ...others } = object as unknown as PersistentVolumeClaim;
    const { resourceVersion: _version, managedFields: _fields, ...kept } = metadata;
    const { capacity: _capacity, conditions: _conditions, ...more } = status;
    const { allocatedResources: _allocated, allocatedResourceStatuses: _statuses, ...remaining } = more;
    return { ...others, metadata: kept, status: remaining };
  };
  if (deepEqual(rest(attributes.object), rest(attributes.old))) return;
  const why = `node ${quoted(node)} is not allowed to update fields other than status.quantity and status.conditions`;
  throw refusal(attributes, why);
}

function checkLeases(attributes: AdmissionAttributes, node: string): void {
  if (attributes.namespace !== NODE_LEASES) {
    throw refusal(attributes, `can only access leases in the ${quoted(NODE_LEASES)} system namespace`);
  }
  checkOwnName("node lease with the same name as the requesting node")(attributes, node);
}

function checkOwnName(what: string): Check {
  return (attributes, node) => {
    if (attributes.name !== node) throw refusal(attributes, `can only access ${what}`);
  };
}

function checkSlices(attributes: AdmissionAttributes, node: string): void {
  const { operation, object, old } = attributes;
  if (operation !== "CREATE" && operation !== "DELETE") return;
  const slice = (operation === "CREATE" ? object : old) as { spec?: { nodeName?: string } } | undefined;
  if (slice?.spec?.nodeName === node) return;
  const verb = operation.toLowerCase();
  throw refusal(attributes, `can only ${verb} ResourceSlice with the same NodeName as the requesting node`);
}
