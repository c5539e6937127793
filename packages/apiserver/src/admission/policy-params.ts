import { type LabelSelector, parseApiVersion, selectsLabels } from "@konverge/core";
import type { WorkingObject } from "../codec/working-object.ts";
import { convertTo, objectOf, storageKey } from "../resources/stored-object.ts";
import type { AdmissionAttributes } from "./attributes.ts";

/** Where a binding finds the parameters of its policy. */
export interface ParamRef {
  readonly name?: string;
  readonly namespace?: string;
  readonly selector?: LabelSelector;
  readonly parameterNotFoundAction?: string;
}

export interface ParamKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** The objects that a policy is evaluated with, one after the other; one without where it takes none. */
export async function paramsOf(
  { call, namespace }: AdmissionAttributes,
  kind: ParamKind | undefined,
  ref: ParamRef | undefined,
): Promise<(WorkingObject | undefined)[]> {
  if (!kind) return [undefined];
  if (!ref) return [undefined];
  const definition = call.registry.byKind(parseApiVersion(kind.apiVersion).group, kind.kind);
  if (!definition) {
    const { group, version } = parseApiVersion(kind.apiVersion);
    throw new Error(`failed to find resource referenced by paramKind: '${group}/${version}, Kind=${kind.kind}'`);
  }
  if (definition.namespaced && !ref.namespace && namespace === "") {
    throw new Error("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources");
  }
  if (!definition.namespaced && ref.namespace) {
    throw new Error("paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
  }
  const home = definition.namespaced ? ref.namespace || namespace : "";
  const collection = call.store.collection(definition.storage);
  const entries = ref.name
    ? [collection.get(storageKey(definition, home, ref.name))].filter((entry) => entry !== undefined)
    : [...collection.scan(home === "" ? "" : `${home}/`)].filter(({ labels }) =>
        selectsLabels(ref.selector ?? {}, labels),
      );
  if (entries.length === 0) {
    if (ref.parameterNotFoundAction === "Allow") return [];
    throw new Error("no params found for policy binding with `Deny` parameterNotFoundAction");
  }
  return Promise.all(entries.map((entry) => convertTo(definition, objectOf(entry), kind.apiVersion)));
}
