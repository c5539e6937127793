import { deepEqual, type FieldError, stringifyJson } from "@konverge/core";
import type { CrdSpec, CrdVersion } from "./custom-resource-definition.ts";

/** What all versions have in common, as a real server holds it: its errors name the fields by where they then are. */
export interface HoistedSpec {
  readonly validation: CrdVersion["schema"];
  readonly subresources: CrdVersion["subresources"];
  readonly additionalPrinterColumns: CrdVersion["additionalPrinterColumns"];
  readonly selectableFields: CrdVersion["selectableFields"];
  /** The versions without what they have in common. */
  readonly versions: readonly CrdVersion[];
}

const HOISTED = ["schema", "subresources", "additionalPrinterColumns", "selectableFields"] as const;

/** Takes out of the versions of a CRD what is the same in all of them. */
export function hoisted(spec: CrdSpec): HoistedSpec {
  const versions = spec.versions ?? [];
  const [first] = versions;
  const common: Partial<Pick<CrdVersion, (typeof HOISTED)[number]>> = {};
  const rest = versions.map((version) => ({ ...version }));
  for (const field of HOISTED) {
    if (!first || !versions.every((version) => deepEqual(version[field] ?? null, first[field] ?? null))) continue;
    Object.assign(common, { [field]: first[field] });
    for (const version of rest) delete version[field];
  }
  const { schema: validation, subresources, additionalPrinterColumns, selectableFields } = common;
  return { validation, subresources, additionalPrinterColumns, selectableFields, versions: rest };
}

/** An error about the versions, which it shows by the names that Go has for their fields, in Go's order. */
export function versionsError(versions: readonly CrdVersion[] | null | undefined, detail: string): FieldError {
  const shown = versions?.map((version) => ({
    Name: version.name ?? "",
    Served: version.served ?? false,
    Storage: version.storage ?? false,
    Deprecated: version.deprecated ?? false,
    DeprecationWarning: version.deprecationWarning ?? null,
    Schema: version.schema ?? null,
    Subresources: version.subresources ?? null,
    AdditionalPrinterColumns: version.additionalPrinterColumns ?? null,
    SelectableFields: version.selectableFields ?? null,
  }));
  const message = `Invalid value: ${stringifyJson(shown ?? null)}: ${detail}`;
  return { reason: "FieldValueInvalid", field: "spec.versions", message };
}
