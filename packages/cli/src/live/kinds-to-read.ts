import type { ApiResource } from "@konverge/client";
import { builtinResources } from "@konverge/kinds";
import type { Permission } from "@konverge/runtime";

/** A kind that is read from a live cluster. */
export interface KindToRead {
  readonly kind: ApiResource;
  /** `all` objects, or those that others of the snapshot own or `related` ones refer to. */
  readonly objects: "all" | "related";
}

/** What an operator's permissions name that says nothing about the state it works on. */
const NOT_STATE =
  /(^events(\.|$)|^leases\.|reviews\.|^(api|flow)|^bindings$|^componentstatuses$|^validating|^mutating|\.metrics\.k8s\.io$)/;

/** The kinds that objects of a kind own or refer to. */
const RELATED: Readonly<Record<string, readonly string[]>> = {
  "deployments.apps": ["replicasets.apps"],
  "replicasets.apps": ["pods"],
  "statefulsets.apps": ["pods", "controllerrevisions.apps", "persistentvolumeclaims"],
  "daemonsets.apps": ["pods", "controllerrevisions.apps"],
  "cronjobs.batch": ["jobs.batch"],
  "jobs.batch": ["pods"],
  pods: [
    "nodes",
    "persistentvolumeclaims",
    "serviceaccounts",
    "configmaps",
    "secrets",
    "priorityclasses.scheduling.k8s.io",
  ],
  persistentvolumeclaims: ["persistentvolumes", "storageclasses.storage.k8s.io"],
  services: ["endpointslices.discovery.k8s.io", "endpoints"],
};

/** The kinds whose objects own those of a kind: without its owner, an object would be collected as garbage. */
const OWNERS: Readonly<Record<string, readonly string[]>> = {
  pods: ["replicasets.apps", "statefulsets.apps", "daemonsets.apps", "jobs.batch"],
  "replicasets.apps": ["deployments.apps"],
  "jobs.batch": ["cronjobs.batch"],
};

/** They decide what becomes of any write, or are what others are placed in. */
const ALWAYS = ["namespaces", "resourcequotas", "limitranges"];
/** There are few of them, and what is scheduled depends on all. */
const WHOLE = new Set(["namespaces", "nodes", "storageclasses.storage.k8s.io", "priorityclasses.scheduling.k8s.io"]);
const BUILT_IN = new Set(builtinResources().map(nameOf));
const CRDS = "customresourcedefinitions.apiextensions.k8s.io";

/**
 * The kinds to read for an operator with these permissions, of those that a cluster serves: what it works on, and what that
 * owns or refers to. Without permissions: all.
 */
export function kindsToRead(
  permissions: readonly Pick<Permission, "group" | "resource">[] | undefined,
  served: readonly ApiResource[],
): KindToRead[] {
  const kinds = new Map<string, ApiResource>();
  for (const kind of served) {
    const name = nameOf(kind);
    // The first is the preferred version.
    if (!kinds.has(name) && kind.verbs.includes("list") && !NOT_STATE.test(name)) kinds.set(name, kind);
  }
  const touched = new Set(
    [...kinds.keys()].filter((name) => permissions?.some((one) => names(one, kinds.get(name)!)) ?? true),
  );
  touched.delete(CRDS);
  const owners = closure(touched, OWNERS);
  const related = closure(owners, RELATED);
  const isCustom = [...touched].some((name) => !BUILT_IN.has(name));
  const all = [...related, ...ALWAYS, ...(isCustom ? [CRDS] : [])];
  return [...new Set(all)].sort().flatMap((name) => {
    const kind = kinds.get(name);
    const whole = touched.has(name) || WHOLE.has(name);
    return kind ? [{ kind, objects: whole ? ("all" as const) : ("related" as const) }] : [];
  });
}

/** `deployments.apps` */
export function nameOf({ group, plural }: Pick<ApiResource, "group" | "plural">): string {
  return group === "" ? plural : `${plural}.${group}`;
}

function names({ group, resource }: Pick<Permission, "group" | "resource">, kind: ApiResource): boolean {
  const [plural] = resource.split("/");
  return (group === "*" || group === kind.group) && (plural === "*" || plural === kind.plural);
}

function closure(from: ReadonlySet<string>, next: Readonly<Record<string, readonly string[]>>): Set<string> {
  const found = new Set(from);
  for (const name of found) for (const more of next[name] ?? []) found.add(more);
  return found;
}
