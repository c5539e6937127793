/** The objects of a release, as they are applied. Pure. */
import { isObject, type KubeObject, parseApiVersion } from "@konverge/core";
import type { Rendered } from "./engine/rendered.ts";

/** Objects with this annotation stay when their release is deleted, or has them no more. */
const KEEP = "helm.sh/resource-policy";

/** The objects of the templates, without hooks. */
export interface RenderedObjects {
  readonly children: readonly KubeObject[];
  /** Those with the policy `keep`. */
  readonly kept: readonly KubeObject[];
}

export function renderedObjects({ manifests }: Rendered): RenderedObjects {
  const all = distinct(manifests.flatMap(({ objects }) => objects).map(withoutNulls));
  const isKept = ({ metadata }: KubeObject) => metadata.annotations?.[KEEP] === "keep";
  return { children: all.filter((object) => !isKept(object)), kept: all.filter(isKept) };
}

/** Identifies an object in a release. */
export function identity({ apiVersion, kind, metadata }: KubeObject): string {
  return `${parseApiVersion(apiVersion).group}/${kind} ${metadata.namespace ?? ""}/${metadata.name}`;
}

/** Of two with the same name the last, as when Helm applies one after the other. */
function distinct(objects: readonly KubeObject[]): KubeObject[] {
  return [...new Map(objects.map((object) => [identity(object), object])).values()];
}

/** Templates leave fields out by making them null. */
export function withoutNulls<T>(value: T): T {
  return pruned(value) as T;
}

function pruned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pruned);
  if (!isObject(value)) return value;
  const fields = Object.entries(value).filter(([, one]) => one !== null);
  return Object.fromEntries(fields.map(([name, one]) => [name, pruned(one)]));
}
