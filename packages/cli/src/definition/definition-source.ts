import { deepEqual, type Schema } from "@konverge/core";
import { type CrdColumn, type CrdObject, type CrdVersion, pluralOf, typeText } from "@konverge/schema";
import { importOrder } from "./import-order.ts";
import { keyText, literal, ZodSource } from "./zod-source.ts";

/** TypeScript text, and what it does not say as the CRD does. */
export interface Written {
  readonly text: string;
  readonly notes: readonly string[];
}

/** A module that defines the kind of a CRD with `defineKind`. */
export function definitionSource(crd: CrdObject): Written {
  const { group, names, scope, versions } = crd.spec;
  const stored = versions.find(({ storage }) => storage) ?? versions[0]!;
  const source = new ZodSource();
  const members = versions.map((version) => `    ${keyText(version.name)}: ${versionText(version, source, "    ")},\n`);
  const converted = versions.filter(
    (version) => version !== stored && version.served && shape(version) !== shape(stored),
  );
  const approved = crd.metadata.annotations?.["api-approved.kubernetes.io"];
  const head = [
    `group: ${JSON.stringify(group)}`,
    `kind: ${JSON.stringify(names.kind)}`,
    ...(names.plural === pluralOf(names.kind) ? [] : [`plural: ${JSON.stringify(names.plural)}`]),
    ...optionalName("singular", names.singular, names.kind.toLowerCase()),
    ...optionalName("listKind", names.listKind, `${names.kind}List`),
    ...(names.shortNames?.length ? [`shortNames: ${literal(names.shortNames)}`] : []),
    ...(names.categories?.length ? [`categories: ${literal(names.categories)}`] : []),
    ...(scope === "Cluster" ? ['scope: "Cluster"'] : []),
    ...(approved === undefined ? [] : [`annotations: ${literal({ "api-approved.kubernetes.io": approved })}`]),
    ...(versions.length > 1 ? [`stored: ${JSON.stringify(stored.name)}`] : []),
  ];
  const conversions = converted.map(({ name }) => {
    source.notes.push(
      `conversion of ${name}: it has other fields than the stored version ${stored.name}; write its functions, which throw until then`,
    );
    const missing = (way: string) =>
      `      ${way}() {\n        throw new Error("the conversion ${way} of ${name} is not written yet");\n      },\n`;
    return `    ${keyText(name)}: {\n${missing("toStored")}${missing("fromStored")}    },\n`;
  });
  const conversion = conversions.length > 0 ? `  conversion: {\n${conversions.join("")}  },\n` : "";
  const imports = [...source.imports, "defineKind"].sort(importOrder);
  const text = `import { ${[...imports, "type ObjectOf", "z"].sort(importOrder).join(", ")} } from "konverge";

export const ${names.kind} = defineKind({
${head.map((line) => `  ${line},\n`).join("")}  versions: {
${members.join("")}  },
${conversion}});
export type ${names.kind} = ObjectOf<typeof ${names.kind}>;
`;
  return { text, notes: source.notes };
}

/** A module that has one version of a kind as a constant. */
export function versionSource(version: CrdVersion, constant: string, comment: string): Written {
  const source = new ZodSource();
  const body = versionText(version, source, "");
  const imports = [...source.imports, "type VersionDefinition", "z"].sort(importOrder);
  const text = `import { ${imports.join(", ")} } from "konverge";

/** ${comment} */
export const ${constant} = ${body} satisfies VersionDefinition;
`;
  return { text, notes: source.notes };
}

const EMPTY: Schema = { type: "object" };

function versionText(version: CrdVersion, source: ZodSource, pad: string): string {
  const { name, schema: { openAPIV3Schema: schema = {} } = {}, subresources = {} } = version;
  const { spec = EMPTY, status, ...others } = schema.properties ?? {};
  for (const field of Object.keys(others).filter((one) => !["apiVersion", "kind", "metadata"].includes(one))) {
    source.notes.push(`${name} ${field}: left out, since objects of defineKind have a spec and a status alone`);
  }
  const { "x-kubernetes-validations": rules = [], ...plainSpec } = spec;
  const inner = `${pad}  `;
  const parts = [
    ...(schema.description ? [`description: ${JSON.stringify(schema.description.trim())}`] : []),
    `spec: ${source.expression(plainSpec, `${name} spec`, inner)}`,
    ...(status && subresources.status
      ? [`status: ${source.expression(withoutCommon(status), `${name} status`, inner)}`]
      : []),
    ...rulesText("rules", rules, source, inner),
    ...rulesText("objectRules", schema["x-kubernetes-validations"] ?? [], source, inner),
    ...columnsText(version.additionalPrinterColumns ?? [], schema, source),
    ...(subresources.scale ? [`scale: ${literal(scaleOf(subresources.scale))}`] : []),
    ...(version.selectableFields?.length
      ? [`selectableFields: ${literal(version.selectableFields.map(({ jsonPath }) => jsonPath))}`]
      : []),
    ...(version.served ? [] : ["served: false"]),
    ...(version.deprecated ? [`deprecated: ${literal(version.deprecationWarning ?? true)}`] : []),
  ];
  if (status && !subresources.status) {
    source.notes.push(`${name} status: left out, since it is no subresource: every client could write it`);
  }
  return `{\n${parts.map((part) => `${inner}${part},\n`).join("")}${pad}}`;
}

/**
 * A status without what `defineKind` adds to each: conditions as every API has them, and the generation that a controller has
 * observed with its default.
 */
function withoutCommon(status: Schema): Schema {
  const { default: value, ...plain } = status;
  const isNew = deepEqual(value, { observedGeneration: -1 });
  const { conditions, observedGeneration, ...properties } = status.properties ?? {};
  const fields = Object.keys(conditions?.items?.properties ?? {}).sort();
  const isCommon = /^lastTransitionTime,message,(observedGeneration,)?reason,status,type$/.test(fields.join());
  return {
    ...(isNew ? plain : status),
    properties: {
      ...(observedGeneration && !isNew && { observedGeneration }),
      ...(conditions && !isCommon && { conditions }),
      ...properties,
    },
  };
}

function rulesText(
  name: string,
  rules: NonNullable<Schema["x-kubernetes-validations"]>,
  source: ZodSource,
  pad: string,
) {
  if (rules.length === 0) return [];
  return [`${name}: [\n${rules.map((rule) => `${pad}  ${source.rule(rule)},\n`).join("")}${pad}]`];
}

function columnsText(columns: readonly CrdColumn[], schema: Schema, source: ZodSource): string[] {
  if (columns.length === 0) return [];
  const texts = columns.map((column) => `${keyText(column.name)}: ${columnText(column, schema, source)}`);
  return [`columns: { ${texts.join(", ")} }`];
}

function columnText({ name: _, ...column }: CrdColumn, schema: Schema, source: ZodSource): string {
  const isWide = column.priority === 1;
  const { jsonPath, type, ...more } = column;
  const rest = Object.keys(more).filter((key) => key !== "priority" || more.priority !== 0);
  if (rest.some((key) => key !== "priority") || (rest.length > 0 && !isWide)) return literal(column);
  const text = plainColumn(jsonPath, type, schema, source) ?? literal({ jsonPath, type });
  return isWide ? `${source.use("wideColumn")}(${text})` : text;
}

function plainColumn(jsonPath: string, type: string, schema: Schema, source: ZodSource): string | undefined {
  if (jsonPath === ".metadata.creationTimestamp" && type === "date") return source.use("ageColumn");
  const condition = /^\.status\.conditions\[\?\(@\.type==["'](\w+)["']\)\]\.status$/.exec(jsonPath)?.[1];
  if (condition && type === "string") return `${source.use("conditionColumn")}(${JSON.stringify(condition)})`;
  if (!/^\.(spec|status)(\.[A-Za-z0-9_-]+)+$/.test(jsonPath)) return undefined;
  const field = jsonPath
    .slice(1)
    .split(".")
    .reduce<Schema | undefined>((at, name) => at?.properties?.[name], schema);
  const isDate = field?.format === "date-time";
  return field?.type !== undefined && type === (isDate ? "date" : field.type) ? JSON.stringify(jsonPath) : undefined;
}

function scaleOf(scale: NonNullable<NonNullable<CrdVersion["subresources"]>["scale"]>) {
  const { specReplicasPath: replicas, statusReplicasPath: statusReplicas, labelSelectorPath: selector } = scale;
  return { replicas, statusReplicas, selector };
}

const optionalName = (part: string, name: string | undefined, usual: string) =>
  name === undefined || name === usual ? [] : [`${part}: ${JSON.stringify(name)}`];

/** What the objects of a version look like. */
const shape = ({ schema }: CrdVersion) => typeText(withoutDescriptions(schema?.openAPIV3Schema ?? {}));

function withoutDescriptions(schema: Schema): Schema {
  return JSON.parse(
    JSON.stringify(schema, (key, value) => (key === "description" && typeof value === "string" ? undefined : value)),
  );
}
