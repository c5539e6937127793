import type { KubeObject } from "@konverge/core";
import type { ObjectReference } from "./protocol.ts";

/** Parts of an object that refer to nothing, or whose references are shown otherwise. */
const SKIPPED = new Set(["apiVersion", "kind", "metadata", "status", "data", "stringData", "binaryData"]);
/** What is in these fields has a name, but is no object. */
const OWN_NAMES = new Set([
  "container",
  "initcontainer",
  "port",
  "volume",
  "volumemount",
  "env",
  "key",
  "namespace",
  "node",
  "",
]);
const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;
/** More than these are not references, but data. */
const LIMIT = 24;
const DEPTH = 14;

/**
 * What an object may refer to, by the names of its fields: `secretName`, `clusterRef`, `{ kind, name }`. Only who knows all objects can
 * decide which of these are there: `spec.secret` is a reference if there is a Secret of this name.
 */
export function referencesOf(object: KubeObject): ObjectReference[] {
  // Pods of a set refer to what its template does.
  if (object.kind === "Pod" && object.metadata.ownerReferences?.length) return [];
  const found = new Map<string, ObjectReference>();
  const add = (kind: string, name: unknown, namespace?: unknown) => {
    if (OWN_NAMES.has(kind) || typeof name !== "string" || !NAME.test(name) || found.size >= LIMIT) return;
    const named = typeof namespace === "string" ? { namespace } : {};
    found.set(`${kind} ${namespace ?? ""}/${name}`, { kind, name, ...named });
  };
  const visit = (field: string, value: unknown, depth: number): void => {
    if (depth > DEPTH || found.size >= LIMIT) return;
    if (typeof value === "string") {
      add(nounOf(field), value);
    } else if (Array.isArray(value)) {
      for (const one of value) visit(field, one, depth + 1);
    } else if (typeof value === "object" && value !== null) {
      const { kind, name, namespace, ...others } = value as Record<string, unknown>;
      add(typeof kind === "string" ? kind.toLowerCase() : nounOf(field), name, namespace);
      for (const [key, inner] of Object.entries(others)) visit(key, inner, depth + 1);
    }
  };
  for (const [key, value] of Object.entries(object)) if (!SKIPPED.has(key)) visit(key, value, 0);
  return [...found.values()];
}

/** `secretKeyRef`, `secretName` and `secrets` are about a secret. */
function nounOf(field: string): string {
  const noun = field.replace(/(Key)?(Refs?|Reference|References)$|Names?$/, "").toLowerCase();
  return noun.length > 4 && /[^s]s$/.test(noun) ? noun.slice(0, -1) : noun;
}
