import type { Cluster } from "@konverge/cluster";
import type { AnyObject } from "@konverge/core";

/** An object of a rehearsal: the name of its resource, and its key. */
export interface ObjectName {
  /** `statefulsets.apps` */
  readonly resource: string;
  /** `namespace/name`, or the name alone; `web-*` for a name that the server has generated. */
  readonly key: string;
}

/** They tell how something came about, or change all the time. */
const ROUTINE = /(^|\/)(events|leases)$/;

/** The collections of a cluster that have state. */
export function stateCollections({ server: { store } }: Cluster): string[] {
  return [...store.resources()].filter((storage) => !ROUTINE.test(storage));
}

/** `statefulsets.apps`, of the name of its collection. */
export function resourceOf(storage: string): string {
  const [group = "", plural = ""] = storage.split("/");
  return group === "" ? plural : `${plural}.${group}`;
}

/** The key of an object, in which a generated name is not spelled out. */
export function stableKey(key: string, { metadata }: AnyObject): string {
  const { generateName, name } = metadata;
  return generateName && name.startsWith(generateName) ? `${key.slice(0, -name.length)}${generateName}*` : key;
}

export const nameText = ({ resource, key }: ObjectName) => `${resource} ${key}`;
