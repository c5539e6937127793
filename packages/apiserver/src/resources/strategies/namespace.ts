import { dns1123LabelErrors, maskTrailingDash } from "@konverge/core";
import { finalizerErrors, invalidValue, unqualifiedFinalizerErrors } from "@konverge/schema";
import type { Namespace, Stored } from "../../codec/objects.ts";
import type { Strategy } from "../definition.ts";

const NAME_LABEL = "kubernetes.io/metadata.name";

/** Namespaces: held by their `spec.finalizers` until they are empty. */
export const namespace: Strategy = {
  defaults: (object: Stored<Namespace>) => labelWithName(object),
  nameErrors: (name, isPrefix) => dns1123LabelErrors(isPrefix ? maskTrailingDash(name) : name),
  prepareForCreate(object: Stored<Namespace>) {
    object.status = { phase: "Active" };
    const finalizers = object.spec?.finalizers ?? [];
    if (!finalizers.includes("kubernetes")) object.spec = { ...object.spec, finalizers: [...finalizers, "kubernetes"] };
  },
  // What finalizers there are is changed through finalize alone; kube-apiserver names no index where they are created.
  validate: ({ spec }: Stored<Namespace>, { subresource }) =>
    (spec?.finalizers ?? []).flatMap((finalizer, index) => {
      const field = subresource === "finalize" ? `spec.finalizers[${index}]` : "spec.finalizers";
      return [...finalizerErrors([finalizer], field), ...unqualifiedFinalizerErrors(finalizer, field)];
    }),
  validateStatusUpdate({ metadata, status }: Stored<Namespace>) {
    const isDeleted = metadata.deletionTimestamp !== undefined;
    const expected = isDeleted ? "Terminating" : "Active";
    const phase = status?.phase ?? "";
    if (phase === expected) return [];
    const detail = `may only be '${expected}' if \`deletionTimestamp\` is ${isDeleted ? "not empty" : "empty"}`;
    return [invalidValue("status.Phase", phase, detail)];
  },
  canonicalize: (object: Stored<Namespace>) => labelWithName(object),
  prepareForUpdate(object: Stored<Namespace>, old: Stored<Namespace>, { subresource }) {
    if (subresource !== "finalize") object.spec = { ...object.spec, finalizers: old.spec?.finalizers ?? [] };
    if (subresource === "finalize") object.status = old.status!;
  },
  resetFields: (subresource) => (subresource === "status" ? ["spec"] : ["status"]),
  isHeld: ({ spec }: Stored<Namespace>) => (spec?.finalizers?.length ?? 0) > 0,
  markDeleted(object: Stored<Namespace>) {
    object.status = { ...object.status, phase: "Terminating" };
  },
  fields: ({ status }: Stored<Namespace>) => ({ "status.phase": status?.phase ?? "" }),
};

/** Selectors by name work on labels. */
function labelWithName({ metadata }: Namespace): void {
  if (metadata.name) metadata.labels = { ...metadata.labels, [NAME_LABEL]: metadata.name };
}
