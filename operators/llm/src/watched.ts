import { type KubeObject, type WatchedKind, watchKind } from "konverge";
import { Pod } from "konverge/kinds";
import { MANAGED } from "./inference-server.ts";

/** Selects what this operator makes. */
export const MANAGED_SELECTOR = Object.entries(MANAGED)
  .map(([name, value]) => `${name}=${value}`)
  .join(",");

/** The pods of a kind's objects, which carry the object's name in a label. */
export function podsOf<T extends KubeObject>(label: string): WatchedKind<T> {
  return watchKind<Pod, T>(Pod, {
    labelSelector: MANAGED_SELECTOR,
    to: ({ metadata: { namespace, labels } }) => (labels?.[label] ? [`${namespace}/${labels[label]}`] : []),
  });
}
