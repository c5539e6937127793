import { customTypes } from "./custom-types.ts";
import type { DefinitionFact, FieldFact } from "./fact-types.ts";
import { type FieldType, fileOf, parseType, type Scalar } from "./type-name.ts";

type OpenApi = Record<string, unknown>;

/**
 * A definition as the server publishes it in OpenAPI v3, without descriptions. `nameOf` gives the names that
 * references use (the server writes `io.k8s.api.apps.v1.Deployment` for `apps.v1.Deployment`). Before 1.37, elements of lists
 * and maps have the zero value of their type as default.
 */
export function openApiSchema(
  name: string,
  fact: DefinitionFact,
  nameOf: (definition: string) => string,
  elementDefaults = true,
): OpenApi {
  const file = fileOf(name);
  const custom = customTypes[name];
  if (fact.custom && custom) return structuredClone(custom.published) as OpenApi;
  const required = Object.keys(fact.fields ?? {}).filter((field) => fact.fields?.[field]?.[2].includes("r"));
  const properties = Object.fromEntries(
    Object.entries(fact.fields ?? {}).map(([field, value]) => [field, property(value, file, nameOf, elementDefaults)]),
  );
  return {
    type: "object",
    ...(required.length > 0 && { required }),
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(fact.mapType && { "x-kubernetes-map-type": fact.mapType }),
    ...(fact.unions && { "x-kubernetes-unions": fact.unions }),
  };
}

function property(
  [typeText, , flags, extras = {}]: FieldFact,
  file: string,
  nameOf: (name: string) => string,
  elementDefaults: boolean,
): OpenApi {
  const type = parseType(typeText, file);
  const published = extras.default ?? impliedDefault(type, flags);
  const node: OpenApi = {
    ...(published !== undefined && { default: published }),
    ...shape(type, nameOf, elementDefaults),
    ...(extras.format && { format: extras.format }),
    ...(extras.listKeys && { "x-kubernetes-list-map-keys": extras.listKeys }),
    ...(extras.listType && { "x-kubernetes-list-type": extras.listType }),
    ...(extras.mapType && { "x-kubernetes-map-type": extras.mapType }),
    ...(extras.patchKey && { "x-kubernetes-patch-merge-key": extras.patchKey }),
    ...(extras.patchStrategy && { "x-kubernetes-patch-strategy": extras.patchStrategy }),
  };
  if (extras.enum) ((node.items ?? node.additionalProperties ?? node) as OpenApi).enum = extras.enum;
  return wrapReference(node);
}

/** Go cannot leave out a struct, nor a scalar without omitempty: OpenAPI then publishes the zero value as default. */
export function impliedDefault(type: FieldType, flags: string): unknown {
  if (flags.includes("p")) return undefined;
  // Types with a custom JSON form may have no zero value that is valid.
  if (type.form === "definition") return customTypes[type.name] ? undefined : {};
  if (flags.includes("o") || type.form !== "scalar") return undefined;
  return zeroOf[type.name];
}

const zeroOf: Record<Scalar, unknown> = {
  string: "",
  bool: false,
  int32: 0,
  int64: 0,
  float64: 0,
  bytes: undefined,
};

const scalarShape: Record<Scalar, OpenApi> = {
  string: { type: "string" },
  bool: { type: "boolean" },
  int32: { type: "integer", format: "int32" },
  int64: { type: "integer", format: "int64" },
  float64: { type: "number", format: "double" },
  bytes: { type: "string", format: "byte" },
};

function shape(type: FieldType, nameOf: (name: string) => string, elementDefaults: boolean): OpenApi {
  switch (type.form) {
    case "scalar":
      return scalarShape[type.name];
    case "definition":
      return { $ref: `#/components/schemas/${nameOf(type.name)}` };
    case "list":
      return { type: "array", items: element(type.element, nameOf, elementDefaults) };
    case "map":
      return { type: "object", additionalProperties: element(type.element, nameOf, elementDefaults) };
  }
}

function element(type: FieldType, nameOf: (name: string) => string, elementDefaults: boolean): OpenApi {
  const zero = elementDefaults ? impliedDefault(type, "") : undefined;
  return wrapReference({ ...(zero !== undefined && { default: zero }), ...shape(type, nameOf, elementDefaults) });
}

/** Nothing may stand beside a $ref. */
function wrapReference(node: OpenApi): OpenApi {
  const { $ref, ...rest } = node;
  return $ref === undefined || Object.keys(rest).length === 0 ? node : { ...rest, allOf: [{ $ref }] };
}
