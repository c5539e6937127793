import type { Schema } from "@konverge/core";
import { CustomResourceDefinition } from "@konverge/kinds";
import type { TestEnvironment } from "@konverge/testing";

/**
 * Has the cluster know of a kind what a short document would say: one version, no defaults, and of the status the named
 * fields alone. Plays, and puts the operator's own definition back.
 */
export async function withNarrowerDefinition(
  stage: TestEnvironment,
  name: string,
  statusFields: readonly string[],
  play: () => Promise<void>,
): Promise<void> {
  const { spec } = await stage.client.get(CustomResourceDefinition, name);
  const versions = spec.versions.filter(({ storage }) => storage);
  const narrower = versions.map((version) => {
    const schema = withoutDefaults(version.schema!.openAPIV3Schema as Schema);
    const { status } = schema.properties!;
    const kept = Object.entries(status!.properties!).filter(([field]) => statusFields.includes(field));
    const properties = { ...schema.properties, status: { type: "object", properties: Object.fromEntries(kept) } };
    return { ...version, schema: { openAPIV3Schema: { ...schema, properties } } };
  });
  await put(stage, name, narrower);
  try {
    await play();
  } finally {
    await put(stage, name, spec.versions);
  }
}

async function put(stage: TestEnvironment, name: string, versions: readonly object[]): Promise<void> {
  await stage.client.patch(CustomResourceDefinition, name, { merge: { spec: { versions } } } as never);
}

function withoutDefaults(schema: Schema): Schema {
  const { default: _, ...rest } = schema;
  const each = (parts: Record<string, Schema>) =>
    Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, withoutDefaults(part)]));
  const { properties, items, additionalProperties } = rest;
  return {
    ...rest,
    ...(properties && { properties: each(properties) }),
    ...(items && { items: withoutDefaults(items) }),
    ...(typeof additionalProperties === "object" && { additionalProperties: withoutDefaults(additionalProperties) }),
  };
}
