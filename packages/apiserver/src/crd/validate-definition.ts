import {
  append,
  deepEqual,
  dns1035LabelErrors,
  dns1123SubdomainErrors,
  type FieldError,
  maskTrailingDash,
} from "@konverge/core";
import { invalidValue, notSupported, PatternBudget, required } from "@konverge/schema";
import { APPROVED, approvalOf } from "./approval.ts";
import { isTrueOf } from "./conditions.ts";
import type { CrdSpec, CrdVersion, CustomResourceDefinition } from "./custom-resource-definition.ts";
import { hoisted, versionsError } from "./hoisted-spec.ts";
import { conversionErrors } from "./validate-conversion.ts";
import { missingNames, namesErrors } from "./validate-names.ts";
import {
  columnErrors,
  deprecationErrors,
  type SchemaContext,
  schemaErrors,
  selectableFieldErrors,
  subresourceErrors,
} from "./validate-version.ts";

/** All that is wrong with a CRD, besides its metadata; with what may not have changed, given what it was. */
export function definitionErrors(crd: CustomResourceDefinition, old?: CustomResourceDefinition): FieldError[] {
  return [
    ...(old ? [] : nameErrors(crd)),
    ...specErrors(crd.spec, old?.spec),
    ...(old ? immutableErrors(crd, old) : []),
    ...namesErrors(crd.status.acceptedNames, "status.acceptedNames"),
    ...storedVersionErrors(crd),
    ...approvalErrors(crd, old),
    ...preserveErrors(crd, old),
  ];
}

function nameErrors({ metadata, spec }: CustomResourceDefinition): FieldError[] {
  const { name = "", generateName = "" } = metadata;
  const wanted = `${spec.names.plural ?? ""}.${spec.group ?? ""}`;
  const check = (value: string, isPrefix: boolean, field: string) => [
    ...dns1123SubdomainErrors(isPrefix ? maskTrailingDash(value) : value).map((problem) =>
      invalidValue(`metadata.${field}`, value, problem),
    ),
    ...(value === wanted ? [] : [invalidValue(`metadata.${field}`, value, 'must be spec.names.plural+"."+spec.group')]),
  ];
  return [
    ...(generateName === "" ? [] : check(generateName, true, "generateName")),
    ...(name === "" ? [] : check(name, false, "name")),
  ];
}

function specErrors(spec: CrdSpec, old: CrdSpec | undefined): FieldError[] {
  const { group = "", scope = "", names } = spec;
  const versions = spec.versions ?? [];
  const errors: FieldError[] = [];
  if (group === "") errors.push(required("spec.group"));
  else if (dns1123SubdomainErrors(group).length > 0) {
    errors.push(invalidValue("spec.group", group, dns1123SubdomainErrors(group).join(",")));
  } else if (!group.includes(".")) {
    errors.push(invalidValue("spec.group", group, "should be a domain with at least one dot"));
  }
  if (scope === "") errors.push(required("spec.scope"));
  else if (scope !== "Cluster" && scope !== "Namespaced") {
    errors.push(notSupported("spec.scope", scope, ["Cluster", "Namespaced"]));
  }
  const common = hoisted(spec);
  if (!common.validation?.openAPIV3Schema) {
    for (const [index, version] of common.versions.entries()) {
      if (!version.schema?.openAPIV3Schema) errors.push(required(`spec.versions[${index}].schema.openAPIV3Schema`));
    }
  }
  const patterns = new PatternBudget();
  const oldByName = new Map(old?.versions.map((version) => [version.name, version]));
  const isUnchanged = (version: CrdVersion) => {
    const before = oldByName.get(version.name);
    return before !== undefined && deepEqual(before.schema ?? null, version.schema ?? null);
  };
  for (const [index, version] of common.versions.entries()) {
    const path = `spec.versions[${index}]`;
    const problems = dns1035LabelErrors(version.name ?? "");
    if (problems.length > 0) errors.push(invalidValue(`${path}.name`, version.name ?? "", problems.join(",")));
    const unchanged = isUnchanged(versions[index]!);
    append(errors, versionErrors(version, versions[index]!, path, { unchanged, patterns }));
  }
  if (new Set(versions.map(({ name }) => name)).size < versions.length) {
    errors.push(versionsError(common.versions, "must contain unique version names"));
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    const detail = "must have exactly one version marked as storage version";
    errors.push(versionsError(spec.versions && common.versions, detail));
  }
  const [first] = versions;
  const problems = first?.name ? dns1035LabelErrors(first.name) : [];
  // The first version has another place as well.
  if (problems.length > 0) errors.push(invalidValue("spec.version", first!.name, problems.join(",")));
  append(errors, missingNames(names, "spec.names"));
  append(errors, namesErrors(names, "spec.names"));
  append(errors, commonErrors(common, versions, { unchanged: versions.every(isUnchanged), patterns }));
  append(errors, conversionErrors(spec.conversion, "spec.conversion"));
  return errors;
}

function versionErrors(
  version: CrdVersion,
  whole: CrdVersion,
  path: string,
  context: Omit<SchemaContext, "hasStatus">,
): FieldError[] {
  const hasStatus = whole.subresources?.status !== undefined;
  const schema = version.schema?.openAPIV3Schema;
  return [
    ...deprecationErrors(version, path),
    ...schemaErrors(schema, `${path}.schema.openAPIV3Schema`, { hasStatus, ...context }),
    ...subresourceErrors(version.subresources, `${path}.subresources`),
    ...columnErrors(version.additionalPrinterColumns, `${path}.additionalPrinterColumns`),
    ...selectableFieldErrors(version.selectableFields, whole.schema?.openAPIV3Schema, `${path}.selectableFields`),
  ];
}

/** What all versions have in common is judged once. */
function commonErrors(
  common: ReturnType<typeof hoisted>,
  versions: readonly CrdVersion[],
  context: Omit<SchemaContext, "hasStatus">,
): FieldError[] {
  const hasStatus = versions.some(({ subresources }) => subresources?.status !== undefined);
  const schema = common.validation?.openAPIV3Schema;
  return [
    ...schemaErrors(schema, "spec.validation.openAPIV3Schema", { hasStatus, ...context }),
    ...subresourceErrors(common.subresources, "spec.subresources"),
    ...columnErrors(common.additionalPrinterColumns, "spec.additionalPrinterColumns"),
    ...selectableFieldErrors(
      common.selectableFields,
      schema ?? versions[0]?.schema?.openAPIV3Schema,
      "spec.selectableFields",
    ),
  ];
}

function immutableErrors(crd: CustomResourceDefinition, old: CustomResourceDefinition): FieldError[] {
  const errors: FieldError[] = [];
  const check = (field: string, value: string, before: string) => {
    if (value !== before) errors.push(invalidValue(field, value, "field is immutable"));
  };
  if (isTrueOf(old, "Established")) {
    check("spec.scope", crd.spec.scope, old.spec.scope);
    check("spec.names.kind", crd.spec.names.kind, old.spec.names.kind);
  }
  check("spec.group", crd.spec.group, old.spec.group);
  check("spec.names.plural", crd.spec.names.plural, old.spec.names.plural);
  return errors;
}

function storedVersionErrors({ spec, status }: CustomResourceDefinition): FieldError[] {
  const path = "status.storedVersions";
  const stored = status.storedVersions ?? [];
  if (stored.length === 0) return [invalidValue(path, null, "must have at least one stored version")];
  const errors: FieldError[] = [];
  const missing = new Set(stored);
  for (const { name, storage } of spec.versions ?? []) {
    if (!missing.delete(name) && storage)
      errors.push(invalidValue(path, stored, `must have the storage version ${name}`));
  }
  for (const [index, name] of stored.entries()) {
    if (!missing.has(name)) continue;
    const detail = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    errors.push(invalidValue(`${path}[${index}]`, name, detail));
  }
  return errors;
}

/** Kubernetes' own groups need its approval. */
function approvalErrors(crd: CustomResourceDefinition, old: CustomResourceDefinition | undefined): FieldError[] {
  const approval = approvalOf(crd);
  if (!approval || (old && approvalOf(old)?.state === approval.state)) return [];
  const field = `metadata.annotations[${APPROVED}]`;
  if (approval.state === "missing") return [required(field, approval.message)];
  if (approval.state !== "invalid") return [];
  return [invalidValue(field, crd.metadata.annotations?.[APPROVED], approval.message)];
}

function preserveErrors({ spec }: CustomResourceDefinition, old: CustomResourceDefinition | undefined): FieldError[] {
  if (!spec.preserveUnknownFields || old?.spec.preserveUnknownFields) return [];
  const detail =
    "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
  return [invalidValue("spec.preserveUnknownFields", true, detail)];
}
