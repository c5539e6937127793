import { exactFieldValue, quoted } from "@konverge/core";
import type { Store } from "../../storage/store.ts";
import type { Attributes } from "../attributes.ts";
import { nodeIdentity, type User } from "../user.ts";
import { NodeGraph, type VertexType } from "./node-graph.ts";

/** Allowed; or why not, which may be empty. Another authorizer may still allow it. */
type Verdict = true | string;

const LEASES = "kube-node-lease";

/**
 * What kubelets may do: read what the pods on their nodes need, and write about their own node and its pods. Only the
 * requests are judged here; what they contain is up to the admission plugin NodeRestriction.
 */
export class NodeAuthorizer {
  readonly #graph: NodeGraph;
  readonly #allowsAll: (action: Attributes) => boolean;

  /** `allowsAll` says what every node may do, of resources that are not subdivided by node. */
  constructor(store: Store, allowsAll: (action: Attributes) => boolean) {
    this.#graph = new NodeGraph(store);
    this.#allowsAll = allowsAll;
  }

  /** Undefined for users that are no nodes. */
  authorize(user: User, action: Attributes): Verdict | undefined {
    const node = nodeIdentity(user);
    if (node === undefined) return undefined;
    if (node === "") return `unknown node for user ${quoted(user.name)}`;
    const subdivided = action.isResource && this.#rules[`${action.group}/${action.resource}`];
    return subdivided ? subdivided(node, action) : this.#allowsAll(action) || "";
  }

  readonly #rules: Readonly<Record<string, (node: string, action: Attributes) => Verdict>> = {
    "/secrets": (node, action) => this.#read(node, "secret", action),
    "/configmaps": (node, action) => this.#read(node, "configmap", action),
    "/persistentvolumeclaims": (node, action) =>
      action.subresource === "status"
        ? this.#updateStatus(node, "persistentvolumeclaim", action)
        : this.#get(node, "persistentvolumeclaim", action),
    "/persistentvolumes": (node, action) => this.#get(node, "persistentvolume", action),
    "resource.k8s.io/resourceclaims": (node, action) => this.#get(node, "resourceclaim", action),
    "storage.k8s.io/volumeattachments": (node, action) => this.#get(node, "volumeattachment", action),
    "/serviceaccounts": (node, action) => this.#serviceAccount(node, action),
    "coordination.k8s.io/leases": authorizeLease,
    "storage.k8s.io/csinodes": authorizeCsiNode,
    "resource.k8s.io/resourceslices": (node, action) => this.#resourceSlice(node, action),
    "/nodes": authorizeNode,
    "/pods": (node, action) => this.#pod(node, action),
    "certificates.k8s.io/podcertificaterequests": () => "",
  };

  #related(node: string, type: VertexType, { namespace, name }: Attributes): Verdict {
    if (name === "") return "No Object name found";
    if (this.#graph.leadsTo(node, type, namespace, name)) return true;
    return `no relationship found between node '${node}' and this object`;
  }

  #updateStatus(node: string, type: VertexType, action: Attributes): Verdict {
    if (!["update", "patch"].includes(action.verb)) return "can only get/update/patch this type";
    return this.#related(node, type, action);
  }

  #get(node: string, type: VertexType, action: Attributes): Verdict {
    if (action.verb !== "get") return "can only get individual resources of this type";
    if (action.subresource !== "") return "cannot get subresource";
    return this.#related(node, type, action);
  }

  #read(node: string, type: VertexType, action: Attributes): Verdict {
    if (!["get", "list", "watch"].includes(action.verb)) return "can only read resources of this type";
    if (action.subresource !== "") return "cannot read subresource";
    if (action.namespace === "") return "can only read namespaced object of this type";
    return this.#related(node, type, action);
  }

  #serviceAccount(node: string, action: Attributes): Verdict {
    const { verb, subresource, name } = action;
    if (verb === "get" && subresource === "") return this.#read(node, "serviceaccount", action);
    if (verb !== "create" || name === "") return "can only create tokens for individual service accounts";
    if (subresource !== "token") return "can only create token subresource of serviceaccount";
    return this.#related(node, "serviceaccount", action);
  }

  #resourceSlice(node: string, action: Attributes): Verdict {
    if (action.subresource !== "") return "cannot authorize ResourceSlice subresources";
    switch (action.verb) {
      case "create":
        return true;
      case "get":
      case "update":
      case "patch":
      case "delete":
        return this.#related(node, "resourceslice", action);
      case "watch":
      case "list":
      case "deletecollection":
        if (selects(action, node)) return true;
        return "can only list/watch/deletecollection resourceslices with nodeName field selector";
      default:
        return "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection";
    }
  }

  #pod(node: string, action: Attributes): Verdict {
    const { verb, subresource, name } = action;
    if (subresource === "status") return verb === "update" || verb === "patch" || "";
    if (subresource === "eviction") return verb === "create" || "";
    if (subresource !== "") return "";
    if (verb === "get") return this.#get(node, "pod", action);
    if (verb === "list" || verb === "watch") {
      if (selects(action, node)) return true;
      if (name !== "") return this.#related(node, "pod", action);
      return "can only list/watch pods with spec.nodeName field selector";
    }
    return verb === "create" || verb === "delete" || "";
  }
}

/** Whether a list or watch selects what is on the node alone. */
function selects({ fields = [] }: Attributes, node: string): boolean {
  return exactFieldValue(fields, "spec.nodeName") === node;
}

const OWN_VERBS = ["get", "create", "update", "patch", "delete"];

function authorizeLease(node: string, { verb, namespace, name }: Attributes): Verdict {
  if (!OWN_VERBS.includes(verb)) return "can only get, create, update, patch, or delete a node lease";
  if (namespace !== LEASES) return `can only access leases in the ${quoted(LEASES)} system namespace`;
  if (verb !== "create" && name !== node) {
    return "can only access node lease with the same name as the requesting node";
  }
  return true;
}

function authorizeCsiNode(node: string, { verb, subresource, name }: Attributes): Verdict {
  if (!OWN_VERBS.includes(verb)) return "can only get, create, update, patch, or delete a CSINode";
  if (subresource !== "") return "cannot authorize CSINode subresources";
  if (verb !== "create" && name !== node) return "can only access CSINode with the same name as the requesting node";
  return true;
}

/** By name, not by the graph: a kubelet reads its Node before there is one. */
function authorizeNode(node: string, { verb, subresource, name }: Attributes): Verdict {
  if (subresource === "status") return verb === "update" || verb === "patch" || "";
  if (subresource !== "") return "";
  if (["create", "update", "patch"].includes(verb)) return true;
  if (!["get", "list", "watch"].includes(verb)) return "";
  if (name === node) return true;
  if (name === "") return `node '${node}' cannot read all nodes, only its own Node object`;
  return `node '${node}' cannot read '${name}', only its own Node object`;
}
