/** A JSON object of some document. */
export type Part = Record<string, unknown>;

/** What of an OpenAPI v3 document goes into that of v2. */
interface Document {
  readonly paths: Record<string, Part>;
  readonly components: { readonly schemas: Record<string, Part> };
}

/** An OpenAPI v2 document. */
export interface SwaggerDocument {
  readonly swagger: "2.0";
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Record<string, Part>;
  readonly definitions: Record<string, Part>;
}

/** Everything that is served, in the older form of OpenAPI: one document, made from those of v3. */
export function swaggerDocument(documents: Iterable<object>, kubernetes: string): SwaggerDocument {
  const paths: Record<string, Part> = {};
  const definitions: Record<string, Part> = {};
  for (const { paths: own, components } of documents as Iterable<Document>) {
    for (const [path, item] of Object.entries(own)) paths[path] = pathItem(item);
    for (const [name, schema] of Object.entries(components.schemas)) definitions[name] ??= definitionOf(schema);
  }
  const version = `v${kubernetes}`;
  return { swagger: "2.0", info: { title: "Kubernetes", version }, paths, definitions };
}

/**
 * Readers of v2 take a field that is not listed for a mistake: a kind that allows any field lists none, not even those that
 * every kind has.
 */
function definitionOf(schema: Part): Part {
  const kinds = schema["x-kubernetes-group-version-kind"];
  if (kinds === undefined || schema["x-kubernetes-preserve-unknown-fields"] !== true) return schemaOf(schema) as Part;
  return { type: "object", "x-kubernetes-group-version-kind": kinds };
}

function pathItem(item: Part): Part {
  return Object.fromEntries(
    Object.entries(item).map(([name, value]) => [
      name,
      name === "parameters" ? (value as Part[]).map(parameter) : operation(value as Part),
    ]),
  );
}

function operation({ parameters = [], requestBody, responses, ...rest }: Part): Part {
  const { content, required } = (requestBody ?? {}) as { content?: Part; required?: boolean };
  const body = content && { in: "body", name: "body", ...(required && { required }), schema: contentSchema(content) };
  const answers = Object.entries(responses as Record<string, Part>);
  const produced = answers.flatMap(([, answer]) => Object.keys((answer.content ?? {}) as Part));
  return {
    ...rest,
    ...(content && { consumes: Object.keys(content) }),
    produces: [...new Set(produced)],
    parameters: [...(body ? [body] : []), ...(parameters as Part[]).map(parameter)],
    responses: Object.fromEntries(
      answers.map(([code, { description, content: answered }]) => [
        code,
        { description, ...(answered !== undefined && { schema: contentSchema(answered as Part) }) },
      ]),
    ),
  };
}

function contentSchema(content: Part): unknown {
  const [first] = Object.values(content) as { schema?: Part }[];
  return schemaOf(first?.schema ?? {});
}

function parameter({ schema, ...rest }: Part): Part {
  return { ...rest, ...(schema as Part) };
}

/** What v2 has no word for; a schema without it allows more, and is not wrong. */
const UNKNOWN = new Set(["oneOf", "anyOf", "not", "nullable"]);

function schemaOf(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(schemaOf);
  if (typeof node !== "object" || node === null) return node;
  const { allOf, ...rest } = node as { allOf?: Part[] } & Part;
  const schema: Part = {};
  for (const [key, value] of Object.entries(rest)) {
    if (key === "$ref") schema.$ref = reference(value as string);
    else if (key === "default" || key === "enum" || key === "example") schema[key] = value;
    else if (key === "properties") schema.properties = properties(value as Part);
    else if (!UNKNOWN.has(key)) schema[key] = schemaOf(value);
  }
  // In v3 a reference with anything beside it is wrapped.
  const [only] = allOf ?? [];
  if (only && typeof only.$ref === "string") schema.$ref = reference(only.$ref);
  loosen(schema, rest);
  return schema;
}

/** Leaves out what a reader of v2 would understand too strictly: nulls, unknown fields and items of any form. */
function loosen(schema: Part, { nullable, properties: given, ...rest }: Part): void {
  const isOpen = rest["x-kubernetes-preserve-unknown-fields"] === true;
  if (nullable === true || isOpen) {
    delete schema.items;
    delete schema.properties;
  }
  const untyped = nullable === true || (isOpen && schema.type === "object");
  if (untyped || (schema.type === "array" && schema.items === undefined)) delete schema.type;
  if (!Array.isArray(schema.required) || given === undefined) return;
  const fields = given as Record<string, Part>;
  const required = schema.required.filter((name: string) => fields[name]?.nullable !== true);
  if (required.length > 0) schema.required = required;
  else delete schema.required;
}

/** Their names are chosen by users: a property may be called `oneOf`. */
function properties(given: Part): Part {
  return Object.fromEntries(Object.entries(given).map(([name, schema]) => [name, schemaOf(schema)]));
}

function reference(text: string): string {
  return text.replace("#/components/schemas/", "#/definitions/");
}
