import type { CustomResourceDefinition } from "@konverge/kinds";
import { type Change, type Schema, schemaChanges } from "./schema-changes.ts";

/** The changes of one CRD. */
export interface CrdChanges {
  readonly name: string;
  readonly changes: readonly Change[];
}

/** What changed between two sets of CRDs, by name. */
export function crdSetChanges(
  before: readonly CustomResourceDefinition[],
  after: readonly CustomResourceDefinition[],
): CrdChanges[] {
  const byName = (crds: readonly CustomResourceDefinition[]) => new Map(crds.map((crd) => [crd.metadata.name, crd]));
  const [old, next] = [byName(before), byName(after)];
  return [...new Set([...old.keys(), ...next.keys()])]
    .sort()
    .map((name) => ({ name, changes: crdChanges(old.get(name), next.get(name)) }));
}

function crdChanges(
  before: CustomResourceDefinition | undefined,
  after: CustomResourceDefinition | undefined,
): Change[] {
  const changes: Change[] = [];
  const add = (breaking: boolean, path: string, message: string) => changes.push({ breaking, path, message });
  if (!after) add(true, "", "CRD removed, with all its objects");
  if (!before) add(false, "", "CRD added");
  if (!before || !after) return changes;
  const [from, to] = [before.spec, after.spec];
  if (from.scope !== to.scope) add(true, "", `scope changed from ${from.scope} to ${to.scope}`);
  if (from.names.kind !== to.names.kind) add(true, "", `kind changed from ${from.names.kind} to ${to.names.kind}`);
  for (const names of ["shortNames", "categories"] as const) {
    const [had, has] = [from.names[names] ?? [], to.names[names] ?? []];
    for (const one of had) if (!has.includes(one)) add(true, "", `${names}: ${one} removed`);
    for (const one of has) if (!had.includes(one)) add(false, "", `${names}: ${one} added`);
  }
  storedChanges(before, after, add);
  const [had, has] = [versionsOf(from), versionsOf(to)];
  for (const [name, version] of had) {
    const next = has.get(name);
    if (!version.served) continue;
    if (!next) add(true, name, "version removed");
    else if (!next.served) add(true, name, "version is no longer served");
    else versionChanges(name, version, next, add);
  }
  for (const [name, { served }] of has)
    if (!had.has(name)) add(false, name, `version added${served ? "" : ", not served"}`);
  return changes;
}

type Version = CustomResourceDefinition["spec"]["versions"][number];
const versionsOf = ({ versions }: CustomResourceDefinition["spec"]) => new Map(versions.map((one) => [one.name, one]));

function storedChanges(
  { spec: from, status }: CustomResourceDefinition,
  { spec: to }: CustomResourceDefinition,
  add: (breaking: boolean, path: string, message: string) => void,
): void {
  const stored = ({ versions }: typeof from) => versions.find(({ storage }) => storage)?.name ?? "";
  const has = versionsOf(to);
  // Objects in etcd may be in any version that was ever stored: the API server refuses a CRD without it.
  const ever = new Set([stored(from), ...(status?.storedVersions ?? [])]);
  for (const name of ever) {
    if (name && !has.has(name)) add(true, name, "stored version removed: migrate the stored objects first");
  }
  if (stored(from) !== stored(to)) add(false, "", `stored version changed from ${stored(from)} to ${stored(to)}`);
  const needsConversion = to.versions.filter(({ served }) => served).length > 1;
  const [before, after] = [from.conversion?.strategy ?? "None", to.conversion?.strategy ?? "None"];
  if (before !== after) {
    add(before === "Webhook" && needsConversion, "", `conversion changed from ${before} to ${after}`);
  }
}

function versionChanges(
  name: string,
  before: Version,
  after: Version,
  add: (breaking: boolean, path: string, message: string) => void,
): void {
  const schemaOf = ({ schema }: Version) => (schema?.openAPIV3Schema ?? {}) as Schema;
  schemaChanges(schemaOf(before), schemaOf(after), `${name} `, add);
  for (const one of ["status", "scale"] as const) {
    const [had, has] = [JSON.stringify(before.subresources?.[one]), JSON.stringify(after.subresources?.[one])];
    if (had === has) continue;
    // With a status subresource, writes to the object ignore its status; without it, they change it.
    const what = had === undefined ? "added" : has === undefined ? "removed" : "changed";
    add(had !== undefined || one === "status", name, `subresource ${one} ${what}`);
  }
  const fields = ({ selectableFields = [] }: Version) => selectableFields.map(({ jsonPath }) => jsonPath);
  for (const one of fields(before)) {
    if (!fields(after).includes(one)) add(true, name, `selectable field ${one} removed`);
  }
  if (!before.deprecated && after.deprecated) add(false, name, "version is deprecated");
  const columns = ({ additionalPrinterColumns = [] }: Version) => JSON.stringify(additionalPrinterColumns);
  if (columns(before) !== columns(after)) add(false, name, "printer columns changed");
}
