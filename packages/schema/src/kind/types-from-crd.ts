import type { Schema } from "@konverge/core";
import type { AnyCrd, CrdObject, CrdVersion } from "./crd-object.ts";
import { crdsFromYaml } from "./from-crd.ts";

export interface TypesFromCRDOptions {
  /** The package that the generated file imports from. Default: konverge. */
  from?: string;
}

/**
 * TypeScript for the kinds of a CRD, or of a YAML file of them: for each served version the type of its objects as the
 * server returns them (with defaults), and a kind for the client's verbs.
 */
export function typesFromCRD(source: string | AnyCrd, options: TypesFromCRDOptions = {}): string {
  const crds = typeof source === "string" ? crdsFromYaml(source) : [source as CrdObject];
  if (crds.length === 0) throw new Error("there is no CustomResourceDefinition (apiextensions.k8s.io/v1) in the YAML");
  const parts = crds.flatMap((crd) => {
    const served = crd.spec.versions.filter((version) => version.served);
    return served.map((version) => versionText(crd, version, served.length > 1));
  });
  const from = options.from ?? "konverge";
  const header = `import type { KubeObject } from "${from}";\nimport { TypedKind } from "${from}/kinds";\n`;
  return `${[header, ...parts].join("\n")}`;
}

function versionText(crd: CrdObject, version: CrdVersion, hasOthers: boolean): string {
  const { group, names, scope } = crd.spec;
  const suffix = hasOthers ? version.name[0]!.toUpperCase() + version.name.slice(1) : "";
  const name = `${names.kind}${suffix}`;
  const schema = version.schema?.openAPIV3Schema ?? {};
  const fields = Object.entries(schema.properties ?? {})
    .filter(([field]) => !["apiVersion", "kind", "metadata"].includes(field))
    .map(([field, property]) => fieldText(field, property, schema.required?.includes(field) ?? false, "  "));
  const rest = schema["x-kubernetes-preserve-unknown-fields"] ? ["  readonly [field: string]: unknown;"] : [];
  return [
    ...comment(schema.description, ""),
    `export interface ${name} extends KubeObject {`,
    `  readonly apiVersion: ${JSON.stringify(`${group}/${version.name}`)};`,
    `  readonly kind: ${JSON.stringify(names.kind)};`,
    ...fields,
    ...rest,
    "}",
    "",
    `export const ${name} = new TypedKind<${name}>({`,
    `  group: ${JSON.stringify(group)},`,
    `  version: ${JSON.stringify(version.name)},`,
    `  kind: ${JSON.stringify(names.kind)},`,
    `  plural: ${JSON.stringify(names.plural)},`,
    `  namespaced: ${scope === "Namespaced"},`,
    "});",
    "",
  ].join("\n");
}

function fieldText(name: string, schema: Schema, isRequired: boolean, pad: string): string {
  const isPresent = isRequired || (schema.default !== undefined && schema.default !== null);
  const key = /^[A-Za-z_$][A-Za-z0-9_$]*$/.test(name) ? name : JSON.stringify(name);
  const text = `${pad}readonly ${key}${isPresent ? "" : "?"}: ${typeText(schema, pad)}${isPresent ? "" : " | undefined"};`;
  return [...comment(schema.description, pad), text].join("\n");
}

/** The TypeScript type of the values that a schema allows. */
export function typeText(schema: Schema, pad = ""): string {
  const type = plainType(schema, pad);
  return schema.nullable && type !== "unknown" ? `${type} | null` : type;
}

function plainType(schema: Schema, pad: string): string {
  const values = schema.enum ?? schema.allOf?.find((part) => part.enum)?.enum;
  if (values && values.length > 0) return values.map((value) => JSON.stringify(value)).join(" | ");
  if (schema["x-kubernetes-int-or-string"]) return "number | string";
  switch (schema.type) {
    case "string":
    case "boolean":
      return schema.type;
    case "integer":
    case "number":
      return "number";
    case "array": {
      const item = schema.items ? typeText(schema.items, pad) : "unknown";
      return `readonly ${/^[\w.]+$|^\{[\s\S]*\}$/.test(item) ? item : `(${item})`}[]`;
    }
    case "object":
      return objectType(schema, pad);
    default:
      return "unknown";
  }
}

function objectType(schema: Schema, pad: string): string {
  const { properties = {}, additionalProperties } = schema;
  const isOpen = schema["x-kubernetes-preserve-unknown-fields"] === true;
  const names = Object.keys(properties);
  if (names.length === 0) {
    if (typeof additionalProperties === "object")
      return `Readonly<Record<string, ${typeText(additionalProperties, pad)}>>`;
    return isOpen || additionalProperties ? "Readonly<Record<string, unknown>>" : "Readonly<Record<string, never>>";
  }
  const inner = `${pad}  `;
  const fields = names.map((name) =>
    fieldText(name, properties[name]!, schema.required?.includes(name) ?? false, inner),
  );
  if (isOpen) fields.push(`${inner}readonly [field: string]: unknown;`);
  return `{\n${fields.join("\n")}\n${pad}}`;
}

/** A description as a doc comment, a line for each paragraph; nothing in it can end the comment. */
function comment(description: string | undefined, pad: string): string[] {
  if (description === undefined || description.trim() === "") return [];
  const lines = description.trim().replaceAll("*/", "*\\/").split("\n");
  if (lines.length === 1) return [`${pad}/** ${lines[0]} */`];
  return [`${pad}/**`, ...lines.map((line) => `${pad} * ${line.trim()}`.trimEnd()), `${pad} */`];
}
