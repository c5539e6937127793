import { deepEqual, isObject, type Schema } from "@konverge/core";
import { applyDefaults, type CrdObject } from "@konverge/schema";

/**
 * What a CRD says that the one of a definition does not, or differently, as lines: `v1 spec.size: maximum is 5, was 9`. What
 * means the same to an API server is no difference.
 */
export function definitionDifferences(was: CrdObject, is: CrdObject): string[] {
  return was.spec.versions.flatMap((before) => {
    const after = is.spec.versions.find(({ name }) => name === before.name);
    if (!after) return [`${before.name}: missing`];
    const [old, now] = [before, after].map(({ schema }) => schema?.openAPIV3Schema ?? {}) as [Schema, Schema];
    return schemaDifferences(old, now, "").map((text) => `${before.name} ${text}`);
  });
}

function schemaDifferences(was: Schema, is: Schema, path: string): string[] {
  const [old, now] = [normal(was), normal(is)];
  const own = [...new Set([...Object.keys(old.keywords), ...Object.keys(now.keywords)])]
    .filter((keyword) => !deepEqual(old.keywords[keyword], now.keywords[keyword]))
    .map((keyword) => difference(path, keyword, old.keywords[keyword], now.keywords[keyword]));
  const names = [...new Set([...old.children.keys(), ...now.children.keys()])];
  const inner = names.flatMap((name) => {
    const [before, after] = [old.children.get(name), now.children.get(name)];
    const at = `${path}${path && !name.startsWith("[") ? "." : ""}${name}`;
    if (!before) return path === "status" && COMMON.includes(name) ? [] : [`${at}: added`];
    if (!after) return [`${at}: missing`];
    return path === "status" && name === "conditions" ? [] : schemaDifferences(before, after, at);
  });
  return [...own, ...inner];
}

/** Every status has them. */
const COMMON = ["conditions", "observedGeneration"];

function difference(path: string, keyword: string, was: unknown, is: unknown): string {
  const text = (value: unknown) => (value === undefined ? "not there" : JSON.stringify(value));
  return `${path || "object"}: ${keyword} is ${text(is)}, was ${text(was)}`;
}

/** A schema's own keywords, without those that say nothing, and the schemas inside of it. */
function normal(schema: Schema): { keywords: Record<string, unknown>; children: Map<string, Schema> } {
  const {
    properties = {},
    items,
    additionalProperties,
    description: _,
    ...keywords
  } = schema as Schema & Record<string, unknown>;
  const children = new Map(Object.entries(properties));
  if (items) children.set("[]", items);
  if (isObject(additionalProperties)) children.set("*", additionalProperties as Schema);
  else if (additionalProperties !== undefined) keywords["additionalProperties"] = additionalProperties;
  if (keywords.type === "integer") keywords["format"] ??= "int64";
  if (schema["x-kubernetes-int-or-string"]) delete keywords["anyOf"];
  if (typeof keywords.pattern === "string") keywords["pattern"] = keywords.pattern.replaceAll("\\/", "/");
  if (keywords.default === null || keywords.default === undefined) delete keywords["default"];
  else keywords["default"] = applyDefaults(schema, structuredClone(keywords.default));
  // A field with a default is always there.
  const required = (schema.required ?? []).filter((name) => (properties[name]?.default ?? undefined) === undefined);
  if (required.length > 0) keywords["required"] = required.toSorted();
  else delete keywords["required"];
  for (const keyword of ["nullable", "exclusiveMinimum", "exclusiveMaximum", "uniqueItems"]) {
    if (keywords[keyword] === false) delete keywords[keyword];
  }
  return { keywords, children };
}
