import type { Strategy } from "../resources/definition.ts";
import { traitsOf } from "../resources/traits.ts";
import { setCondition } from "./conditions.ts";
import type { CustomResourceDefinition } from "./custom-resource-definition.ts";
import { unrecognizedFormats } from "./formats.ts";
import { definitionErrors } from "./validate-definition.ts";
import { namesErrors } from "./validate-names.ts";

/** Holds a CRD until all its instances are deleted. */
export const CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";

/** The strategy of CustomResourceDefinitions themselves. */
export const crdStrategy: Strategy = {
  ...traitsOf("apiextensions.k8s.io", "CustomResourceDefinition"),
  nameErrors: () => [],
  defaults(object) {
    const { names, conversion } = (object as CustomResourceDefinition).spec;
    if (!names.singular) names.singular = (names.kind ?? "").toLowerCase();
    if (!names.listKind && names.kind) names.listKind = `${names.kind}List`;
    (object as CustomResourceDefinition).spec.conversion = conversion ?? { strategy: "None" };
  },
  prepareForCreate(object) {
    const crd = object as CustomResourceDefinition;
    crd.status = { conditions: null, acceptedNames: { plural: "", kind: "" }, storedVersions: null };
    addStoredVersion(crd);
  },
  prepareForUpdate(object, _old, { subresource }) {
    if (subresource === "") addStoredVersion(object as CustomResourceDefinition);
  },
  validate: (object) => definitionErrors(object as CustomResourceDefinition),
  validateChange: (object, old) =>
    definitionErrors(object as CustomResourceDefinition, old as CustomResourceDefinition),
  validateStatusUpdate: (object) =>
    namesErrors((object as CustomResourceDefinition).status.acceptedNames, "status.acceptedNames"),
  warnings(object, { subresource }, old) {
    if (subresource !== "") return [];
    const known = new Set(old ? unrecognizedFormats(old as CustomResourceDefinition) : []);
    const found = unrecognizedFormats(object as CustomResourceDefinition);
    return found
      .filter((format) => !known.has(format))
      .map((format) => `unrecognized format ${JSON.stringify(format)}`);
  },
  markDeleted(object, _options, { call }) {
    const crd = object as CustomResourceDefinition;
    const finalizers = crd.metadata.finalizers ?? [];
    if (!finalizers.includes(CLEANUP_FINALIZER)) crd.metadata.finalizers = [...finalizers, CLEANUP_FINALIZER];
    setCondition(crd, call.clock, [
      "Terminating",
      "True",
      "InstanceDeletionPending",
      "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    ]);
  },
};

function addStoredVersion({ spec, status }: CustomResourceDefinition): void {
  const stored = spec.versions?.find((version) => version.storage);
  if (!stored || status.storedVersions?.includes(stored.name)) return;
  status.storedVersions = [...(status.storedVersions ?? []), stored.name];
}
