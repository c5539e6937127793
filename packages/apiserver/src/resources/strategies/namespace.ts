import { dns1123LabelErrors, maskTrailingDash } from "@konverge/core";
import type { Strategy } from "../strategy.ts";
import type { Namespace, Stored } from "./objects.ts";

const NAME_LABEL = "kubernetes.io/metadata.name";

/** Namespaces: held by finalizers of their own until they are empty. */
export const namespace: Strategy = {
  defaults: (object: Stored<Namespace>) => labelWithName(object),
  nameErrors: (name, isPrefix) => dns1123LabelErrors(isPrefix ? maskTrailingDash(name) : name),
  prepareForCreate(object: Stored<Namespace>) {
    object.status = { phase: "Active" };
    const finalizers = object.spec?.finalizers ?? [];
    if (!finalizers.includes("kubernetes")) object.spec = { ...object.spec, finalizers: [...finalizers, "kubernetes"] };
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
