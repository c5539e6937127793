import type { Clock } from "@konverge/core";
import type { Access } from "./connection.ts";
import type { History, Version } from "./history.ts";

/** A resource that clients write and watch. */
export interface Resource {
  readonly plural: string;
  readonly apiVersion: string;
  readonly kind: string;
}

const GROUP = "histories.example.com";

/** One that is built in and one that is defined. */
export const RESOURCES: readonly Resource[] = [
  { plural: "configmaps", apiVersion: "v1", kind: "ConfigMap" },
  { plural: "marbles", apiVersion: `${GROUP}/v1`, kind: "Marble" },
];
export const SHARDS: readonly string[] = ["a", "b"];
const NAMESPACE = "histories";
const VALUE = `${GROUP}/value`;

/** What the clients of one run share. */
export interface Stage {
  readonly clock: Clock;
  readonly access: Access;
  readonly history: History;
  /** Last versions that any client has observed, by object, for preconditions that sometimes hold. */
  readonly known: Map<string, Version>;
  /** Revisions that any client has observed. */
  readonly revisions: number[];
  /** Names of the objects of each resource that clients write at present. */
  readonly names: Map<string, string[]>;
  /** Resolves when the server runs. */
  up(): Promise<void>;
  /** Clients write no more. */
  readonly isOver: boolean;
}

/** An object as the API returns it, as far as histories record it. */
export interface StoredObject {
  metadata: {
    name: string;
    uid: string;
    resourceVersion: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
}

export function versionOf(resource: Resource, { metadata }: StoredObject): Version {
  const { name, uid, resourceVersion, labels, annotations } = metadata;
  const [value, shard] = [annotations?.[VALUE] ?? "", labels?.["shard"] ?? ""];
  return { resource: resource.plural, name, uid, revision: Number(resourceVersion), value, shard };
}

/** Objects that controllers make carry no value. */
export function isOurs({ value }: Version): boolean {
  return value !== "";
}

/** What a write stores: the whole object, or a merge patch. */
export function content(resource: Resource, name: string, value: string, shard: string, revision?: number) {
  const metadata = { name, labels: { shard }, annotations: { [VALUE]: value } };
  return {
    apiVersion: resource.apiVersion,
    kind: resource.kind,
    metadata: revision === undefined ? metadata : { ...metadata, resourceVersion: String(revision) },
  };
}

/** The path of an object, or of all. */
export function pathOf({ plural, apiVersion }: Resource, name?: string): string {
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return `${root}/namespaces/${NAMESPACE}/${plural}${name === undefined ? "" : `/${name}`}`;
}

/** What must exist before clients begin, with the path to create it at. */
export function preparation(): [path: string, object: object][] {
  const names = { plural: "marbles", singular: "marble", kind: "Marble" };
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `marbles.${GROUP}` },
    spec: { group: GROUP, scope: "Namespaced", names, versions: [{ name: "v1", served: true, storage: true, schema }] },
  };
  return [
    ["/api/v1/namespaces", { metadata: { name: NAMESPACE } }],
    ["/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition],
  ];
}
