import type { ObjectName } from "../src/protocol.ts";
import { type JsonObject, request } from "./api.ts";

interface Schema {
  readonly description?: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly allOf?: readonly Schema[];
  readonly $ref?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly "x-kubernetes-group-version-kind"?: readonly { group: string; version: string; kind: string }[];
}

type Describe = (path: readonly (string | number)[]) => string;

const loaded = new Map<string, Promise<JsonObject>>();

/** What the cluster's OpenAPI schemas say about the fields of a kind. */
export async function fieldDescriptions({ group, version, kind }: ObjectName): Promise<Describe | undefined> {
  const path = group ? `/openapi/v3/apis/${group}/${version}` : `/openapi/v3/api/${version}`;
  let document = loaded.get(path);
  if (!document) {
    document = request("GET", path);
    loaded.set(path, document);
  }
  const { components } = (await document.catch(() => ({}))) as { components?: { schemas?: Record<string, Schema> } };
  const schemas = components?.schemas ?? {};
  const root = Object.values(schemas).find((schema) =>
    schema["x-kubernetes-group-version-kind"]?.some(
      (one) => one.group === group && one.version === version && one.kind === kind,
    ),
  );
  return root && ((at) => describe(root, at, schemas));
}

function describe(root: Schema, path: readonly (string | number)[], schemas: Record<string, Schema>): string {
  let schema: Schema | undefined = root;
  let description = "";
  for (const step of path) {
    schema = schema && resolved(schema, schemas);
    const next: Schema | boolean | undefined =
      typeof step === "number" ? schema?.items : (schema?.properties?.[step] ?? schema?.additionalProperties);
    schema = typeof next === "object" ? next : undefined;
    description = schema?.description ?? (schema && resolved(schema, schemas).description) ?? description;
  }
  if (!schema) return "";
  const { type, enum: values, default: value } = resolved(schema, schemas);
  const facts = [
    type,
    values && `one of ${values.join(", ")}`,
    value !== undefined && `default ${JSON.stringify(value)}`,
  ].filter(Boolean);
  const name = path.filter((step) => typeof step === "string").join(".");
  return `${name}${facts.length > 0 ? ` (${facts.join(", ")})` : ""}: ${description || "no description"}`;
}

function resolved(schema: Schema, schemas: Record<string, Schema>): Schema {
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  const found = reference && schemas[reference.slice(reference.lastIndexOf("/") + 1)];
  return found ? { ...found, ...(schema.description && { description: schema.description }) } : schema;
}
