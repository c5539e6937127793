import type { ApiRequest } from "@konverge/core";
import { builtinResources, definition, definitionOf } from "@konverge/kinds";

/**
 * The fields of built-in kinds that a request sets, by the type that has them: `core.v1.PodSpec.nodeSelector`. Empty for
 * custom kinds, and for requests that write no object.
 */
export function renderedFields({ body }: Pick<ApiRequest, "body">): Set<string> {
  const found = new Set<string>();
  const object = body === undefined ? undefined : parsed(body);
  if (!object?.apiVersion || !object.kind) return found;
  const [version, group = ""] = object.apiVersion.split("/").reverse();
  const isBuiltIn = builtinResources().some((one) => one.group === group && one.kind === object.kind);
  if (isBuiltIn) walk(definitionOf(group, version!, object.kind), object, found);
  return found;
}

function parsed(body: string | Uint8Array): { apiVersion?: string; kind?: string } | undefined {
  try {
    return JSON.parse(typeof body === "string" ? body : new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}

function walk(type: string, value: unknown, found: Set<string>): void {
  if (Array.isArray(value)) for (const element of value) walk(type, element, found);
  else if (typeof value === "object" && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      const field = definition(type)?.fields?.[name];
      if (!field) continue;
      found.add(`${type}.${name}`);
      walk(typeOf(field[0], type), field[0].startsWith("map[]") ? Object.values(inner ?? {}) : inner, found);
    }
  }
}

/** A field's type is a scalar, or the name of a definition, without its group if that is the same. */
function typeOf(type: string, parent: string): string {
  const element = type.replace(/^(\[\]|map\[\]|items\[\])+/, "");
  return element.includes(".") ? element : `${parent.slice(0, parent.lastIndexOf("."))}.${element}`;
}
