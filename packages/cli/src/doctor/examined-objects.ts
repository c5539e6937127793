import type { Client } from "@konverge/client";
import { ApiError, isNotFound, type KindRef, type KubeObject, keyOf } from "@konverge/core";
import { CustomResourceDefinition } from "@konverge/kinds";
import { UsageError } from "../usage-error.ts";

/** Kinds whose objects are renewed all the time, and that nobody makes children of. */
const RENEWED = new Set(["events", "leases"]);

export interface ExaminedKind {
  readonly kind: KindRef<KubeObject>;
  readonly isCustom: boolean;
}

/** What is examined: everything of some kinds, or one object with what it owns. */
export interface Examined {
  readonly kinds: readonly ExaminedKind[];
  readonly objects: readonly KubeObject[];
  /** UIDs of objects of custom kinds. */
  readonly custom: ReadonlySet<string>;
  readonly crds: readonly CustomResourceDefinition[];
}

/** Reads the objects that are examined. What the user may not list is left out. */
export async function examine(client: Client, only: string | undefined, namespace: string): Promise<Examined> {
  const crds = await listed(client, CustomResourceDefinition);
  const custom = crds.filter(isEstablished).map((crd) => ({ kind: kindOf(crd), isCustom: true }));
  const kinds = [...custom, ...(await otherKinds(client, custom))];
  const objects: KubeObject[] = [];
  const ofCustomKinds = new Set<string>();
  for (const { kind, isCustom } of kinds) {
    for (const object of await listed(client, kind)) {
      objects.push({ ...object, apiVersion: object.apiVersion ?? apiVersion(kind), kind: object.kind ?? kind.kind });
      if (isCustom) ofCustomKinds.add(object.metadata.uid ?? "");
    }
  }
  if (only === undefined) return { kinds, objects, custom: ofCustomKinds, crds };
  const root = await chosen(client, only, namespace);
  const family = withDescendants(root, objects);
  return { kinds, objects: family, custom: ofCustomKinds, crds };
}

/** All other kinds that can be watched: any of them may be that of a child. */
async function otherKinds(client: Client, custom: readonly ExaminedKind[]): Promise<ExaminedKind[]> {
  const known = new Set(custom.map(({ kind }) => `${kind.plural}.${kind.group}`));
  const kinds: ExaminedKind[] = [];
  for (const { group, version, kind, plural, namespaced, verbs } of (await client.mapper.surface()).resources) {
    const name = `${plural}.${group}`;
    // Of a group in several versions, the preferred one comes first.
    if (known.has(name) || RENEWED.has(plural) || !["list", "watch"].every((verb) => verbs.includes(verb))) continue;
    known.add(name);
    kinds.push({ kind: { group, version, kind, plural, namespaced }, isCustom: false });
  }
  return kinds;
}

/** Lists objects page by page. */
export async function listed<T extends KubeObject>(client: Client, kind: KindRef<T>): Promise<T[]> {
  const items: T[] = [];
  try {
    for await (const item of client.each(kind)) items.push(item);
  } catch (error) {
    // Not permitted, no longer served, or its conversion fails: that is reported elsewhere.
    if (!(error instanceof ApiError)) throw error;
  }
  return items;
}

const apiVersion = ({ group, version }: KindRef<KubeObject>) => (group === "" ? version : `${group}/${version}`);

const isEstablished = ({ status }: CustomResourceDefinition) =>
  status?.conditions?.some(({ type, status: is }) => type === "Established" && is === "True") ?? false;

function kindOf({ spec }: CustomResourceDefinition): KindRef<KubeObject> {
  const { name: version } = spec.versions.find(({ storage, served }) => storage && served) ?? spec.versions[0]!;
  const { kind, plural } = spec.names;
  return { group: spec.group, version, kind, plural, namespaced: spec.scope === "Namespaced" };
}

/** The object that `KIND/NAME` names. */
async function chosen(client: Client, text: string, namespace: string): Promise<KubeObject> {
  const [resource, name, ...rest] = text.split("/");
  if (!resource || !name || rest.length > 0)
    throw new UsageError(`${text} is not KIND/NAME: for example trainingjob/llama`);
  const kind = await client.mapper.resolveResource(resource).catch((error: unknown) => {
    throw new UsageError(`the cluster has no kind ${resource}: ${(error as Error).message}`, { cause: error });
  });
  const key = kind.namespaced ? `${namespace}/${name}` : name;
  try {
    const object = await client.get(kind as KindRef<KubeObject>, key);
    return { ...object, apiVersion: object.apiVersion ?? apiVersion(kind), kind: kind.kind };
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new UsageError(`there is no ${kind.kind} ${key}: name its namespace with --namespace`, { cause: error });
  }
}

function withDescendants(root: KubeObject, objects: readonly KubeObject[]): KubeObject[] {
  const family = new Map([[root.metadata.uid, root]]);
  for (let size = 0; size < family.size; ) {
    size = family.size;
    for (const object of objects) {
      if (object.metadata.ownerReferences?.some(({ uid }) => family.has(uid))) family.set(object.metadata.uid, object);
    }
  }
  return [...family.values()].filter(
    (object, i, all) => all.findIndex((one) => keyOf(one) === keyOf(object) && one.kind === object.kind) === i,
  );
}
