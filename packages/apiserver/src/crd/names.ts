import { deepEqual } from "@konverge/core";
import type { CrdNames } from "@konverge/schema";
import type { CustomResourceDefinition } from "./custom-resource-definition.ts";

/** Names in use in a group: what the paths of resources are made of, and the kinds of bodies. */
export interface UsedNames {
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

/** What a CRD may be called, and what stands in its way, if anything does. */
export interface Naming {
  readonly accepted: CrdNames;
  readonly conflict?: { readonly reason: string; readonly message: string };
}

/** The names that the CRDs of a group have been granted. */
export function usedNames(crds: readonly CustomResourceDefinition[], group: string): UsedNames {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const { spec, status } of crds) {
    if (spec.group !== group) continue;
    const { plural, singular = "", shortNames, kind, listKind = "" } = status.acceptedNames;
    for (const name of [plural, singular, ...(shortNames ?? [])]) resources.add(name);
    for (const name of [kind, listKind]) kinds.add(name);
  }
  return { resources, kinds };
}

/** Grants a CRD the names it asks for, one by one; those that others have it does not get. */
export function grantNames({ spec, status }: CustomResourceDefinition, used: UsedNames): Naming {
  const wanted = spec.names;
  const accepted: CrdNames = { ...status.acceptedNames };
  let conflict: Naming["conflict"];
  const grant = (field: "plural" | "singular" | "kind" | "listKind", taken: ReadonlySet<string>, reason: string) => {
    const name = wanted[field] ?? "";
    if (name === (status.acceptedNames[field] ?? "") || !taken.has(name)) accepted[field] = name;
    else conflict = { reason, message: inUse(name) };
  };
  grant("plural", used.resources, "PluralConflict");
  grant("singular", used.resources, "SingularConflict");
  const shortNames = wanted.shortNames ?? [];
  const own = status.acceptedNames.shortNames ?? [];
  const rivals = shortNames.filter((name) => !own.includes(name) && used.resources.has(name)).map(inUse);
  if (rivals.length === 0) accepted.shortNames = shortNames;
  else if (!deepEqual(shortNames, own)) {
    const message = rivals.length === 1 ? rivals[0]! : `[${[...new Set(rivals)].join(", ")}]`;
    conflict = { reason: "ShortNamesConflict", message };
  }
  grant("kind", used.kinds, "KindConflict");
  grant("listKind", used.kinds, "ListKindConflict");
  accepted.categories = wanted.categories ?? [];
  return { accepted: withoutEmpty(accepted), ...(conflict && { conflict }) };
}

/** Whether a CRD has been granted all it asks for. */
export function hasItsNames({ spec, status }: CustomResourceDefinition): boolean {
  return deepEqual(withoutEmpty(spec.names), withoutEmpty(status.acceptedNames));
}

function withoutEmpty(names: CrdNames): CrdNames {
  const { shortNames, categories, ...rest } = names;
  return { ...rest, ...(shortNames?.length && { shortNames }), ...(categories?.length && { categories }) };
}

function inUse(name: string): string {
  return `${JSON.stringify(name)} is already in use`;
}
