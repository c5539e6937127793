import type { Schema } from "@konverge/core";
import type { CustomResourceDefinition } from "@konverge/kinds";

/** What of a change of a kind its existing instances may not survive. */
export function breakingChanges(before: CustomResourceDefinition, after: CustomResourceDefinition): string[] {
  const specOf = ({ spec }: CustomResourceDefinition) =>
    spec?.versions?.[0]?.schema?.openAPIV3Schema?.properties?.["spec"] as Schema | undefined;
  return [...changesIn(specOf(before) ?? {}, specOf(after) ?? {}, "spec")];
}

function* changesIn(before: Schema, after: Schema, path: string): Generator<string> {
  if (before.type !== after.type) {
    yield `${path} was of type ${before.type ?? "any"} and is now of type ${after.type ?? "any"}`;
    return;
  }
  const required = new Set(before.required);
  for (const name of after.required ?? []) {
    const isNew = !required.has(name) && after.properties?.[name]?.default === undefined;
    if (isNew) yield `${path}.${name} is now required`;
  }
  for (const [name, property] of Object.entries(before.properties ?? {})) {
    const now = after.properties?.[name];
    if (now) yield* changesIn(property, now, `${path}.${name}`);
    else yield `${path}.${name} is removed`;
  }
  if (before.items && after.items) yield* changesIn(before.items, after.items, `${path}[]`);
  const lost = (before.enum ?? []).filter((value) => after.enum && !after.enum.includes(value));
  if (lost.length > 0) yield `${path} can no longer be ${lost.join(", ")}`;
}
