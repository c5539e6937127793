import { isDeepStrictEqual } from "node:util";
import type { DefinitionFact, FieldExtras, FieldFact } from "../../packages/kinds/src/fact-types.ts";
import { impliedDefault, openApiSchema } from "../../packages/kinds/src/openapi.ts";
import { elementName, parseType } from "../../packages/kinds/src/type-name.ts";
import { type GoDefinition, type GoFacts, type GoField, plainDefault } from "./go-facts.ts";
import { type OpenApiSchema, type ServerFacts, shortName } from "./server-facts.ts";

/**
 * One fact per definition from what the server publishes and what the Go types say. Nothing the server publishes may
 * be lost: its schema must come out again when the fact is turned back into OpenAPI, else this throws.
 */
export function mergeDefinitions(server: ServerFacts, go: GoFacts): Record<string, DefinitionFact> {
  const facts: Record<string, DefinitionFact> = {};
  for (const name of Object.keys(go.definitions).sort()) {
    const published = server.schemas[name];
    const fact = mergeDefinition(name, go.definitions[name]!, published, go);
    if (published) assertNothingLost(name, fact, published, server.elementDefaults);
    facts[name] = fact;
  }
  const unknown = Object.keys(server.schemas).filter((name) => !facts[name]);
  if (unknown.length > 0) throw new Error(`published, but no Go type was found: ${unknown.join(", ")}`);
  return facts;
}

function mergeDefinition(
  name: string,
  go: GoDefinition,
  published: OpenApiSchema | undefined,
  all: GoFacts,
): DefinitionFact {
  const common: DefinitionFact = {
    ...(go.custom && { custom: true as const }),
    ...(published?.["x-kubernetes-map-type"] && { mapType: published["x-kubernetes-map-type"] as "atomic" }),
    ...(published?.["x-kubernetes-unions"] && { unions: published["x-kubernetes-unions"] }),
    ...(!published && { unpublished: true as const }),
    ...(name.startsWith("meta.") && groupVersionsOf(published)),
  };
  if (!go.fields) return common;
  const fields = Object.fromEntries(go.fields.map((field) => [field.name, mergeField(name, field, published, all)]));
  return { ...common, fields };
}

function mergeField(definition: string, field: GoField, published: OpenApiSchema | undefined, all: GoFacts): FieldFact {
  const node = published?.properties?.[field.name];
  if (published && !node) throw new Error(`${definition}.${field.name} is not published`);
  const flags = [
    field.omitEmpty && "o",
    field.omitZero && "z",
    field.pointer && "p",
    published?.required?.includes(field.name) && "r",
  ]
    .filter(Boolean)
    .join("");
  const type = localName(field.type, definition);
  const proto = field.proto ?? [];
  const fact: FieldFact = [type, proto.length === 0 ? 0 : proto.length === 1 ? proto[0]! : proto, flags];
  const extras = fieldExtras(definition, field, node, flags, all);
  if (Object.keys(extras).length > 0) fact.push(extras);
  return fact;
}

function fieldExtras(
  definition: string,
  field: GoField,
  node: OpenApiSchema | undefined,
  flags: string,
  all: GoFacts,
): FieldExtras {
  const implied = impliedDefault(parseType(field.type, ""), flags);
  const plain = plainDefault(all.defaults[`${definition}.${field.name}`]);
  const ownFormat =
    node?.format && !["int32", "int64", "double", "byte"].includes(node.format) ? node.format : undefined;
  const values = node?.enum ?? node?.items?.enum ?? node?.additionalProperties?.enum;
  return {
    ...(node?.default !== undefined && !isDeepStrictEqual(node.default, implied) && { default: node.default }),
    ...(plain && { serverDefault: plain.value }),
    ...(values && { enum: values }),
    ...(ownFormat && { format: ownFormat }),
    ...(node?.["x-kubernetes-list-type"] && { listType: node["x-kubernetes-list-type"] as "map" }),
    ...(node?.["x-kubernetes-list-map-keys"] && { listKeys: node["x-kubernetes-list-map-keys"] }),
    ...(node?.["x-kubernetes-map-type"] && { mapType: node["x-kubernetes-map-type"] as "atomic" }),
    ...(field.patchStrategy && { patchStrategy: field.patchStrategy }),
    ...(field.patchMergeKey && { patchKey: field.patchMergeKey }),
  };
}

function groupVersionsOf(published: OpenApiSchema | undefined): { groupVersions?: string[] } {
  const known = published?.["x-kubernetes-group-version-kind"];
  if (!known) return {};
  return { groupVersions: known.map(({ group, version }) => (group === "" ? version : `${group}/${version}`)) };
}

/** Names of the same file are written without their group-version. */
function localName(type: string, definition: string): string {
  const prefix = definition.slice(0, definition.lastIndexOf(".") + 1);
  const name = elementName(type);
  const before = type.slice(0, type.length - name.length);
  return name.startsWith(prefix) && !name.slice(prefix.length).includes(".")
    ? before + name.slice(prefix.length)
    : type;
}

function assertNothingLost(
  name: string,
  fact: DefinitionFact,
  published: OpenApiSchema,
  elementDefaults?: boolean,
): void {
  const again = openApiSchema(name, fact, (definition) => definition, elementDefaults);
  const { "x-kubernetes-group-version-kind": _, ...expected } = published;
  for (const part of new Set([...Object.keys(expected), ...Object.keys(again)])) {
    if (part === "properties") continue;
    const left =
      part === "required" ? [...(expected.required ?? [])].sort() : (expected as Record<string, unknown>)[part];
    const right = part === "required" ? [...((again.required as string[]) ?? [])].sort() : again[part];
    if (!isDeepStrictEqual(left, right)) fail(`${name} ${part}`, left, right);
  }
  const properties = (again.properties ?? {}) as Record<string, OpenApiSchema>;
  for (const field of Object.keys(expected.properties ?? {})) {
    const left = withShortReferences(expected.properties?.[field]);
    const right = withShortReferences(properties[field]);
    if (!isDeepStrictEqual(left, right)) fail(`${name}.${field}`, left, right);
  }
}

function fail(where: string, published: unknown, again: unknown): never {
  throw new Error(`${where}: published ${JSON.stringify(published)}, but the facts say ${JSON.stringify(again)}`);
}

/** The server writes a lone reference with or without allOf, depending on whether it has a description. */
function withShortReferences(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withShortReferences);
  if (typeof node !== "object" || node === null) return node;
  const entries = Object.entries(node).map(([key, value]) => [
    key,
    key === "$ref" ? shortName(String(value).replace("#/components/schemas/", "")) : withShortReferences(value),
  ]);
  const copy = Object.fromEntries(entries) as { allOf?: object[] };
  return copy.allOf?.length === 1 && Object.keys(copy).length === 1 ? copy.allOf[0] : copy;
}
