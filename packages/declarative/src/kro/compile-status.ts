import { isObject, type Schema } from "@konverge/core";
import type { ExpressionEnvironment } from "@konverge/schema/cel";
import { compileTexts, expressionsIn } from "./compile-node.ts";
import type { CompiledText } from "./graph.ts";
import type { GraphMistake } from "./graph-error.ts";
import { isStandalone, pathKey } from "./templates.ts";

const PATH = "spec.schema.status";

/** Compiles the fields of an instance's status. Their schema follows from the types of the expressions. */
export function compileStatus(
  status: Readonly<Record<string, unknown>>,
  environment: ExpressionEnvironment,
  mistakes: GraphMistake[],
): { texts: CompiledText[]; schema: Schema } {
  const { conditions, ...fields } = status;
  if (conditions !== undefined)
    mistakes.push({
      path: `${PATH}.conditions`,
      message: "conditions of authors are not supported: the operator reports its own",
    });
  const texts = compileTexts(fields, undefined, PATH, {}, { environment, mistakes });
  const byPath = new Map(texts.map((text) => [pathKey(text.path), text]));
  for (const text of texts)
    if (expressionsIn(text).every(({ variables }) => variables.size === 0))
      mistakes.push({ path: PATH, message: `a field refers to neither a resource nor schema: ${pathKey(text.path)}` });
  const schemaOf = (value: unknown, path: readonly (string | number)[]): Schema => {
    if (isObject(value)) {
      const properties = Object.entries(value).map(
        ([name, field]) => [name, schemaOf(field, [...path, name])] as const,
      );
      return { type: "object", properties: Object.fromEntries(properties) };
    }
    if (Array.isArray(value)) return { type: "array", items: schemaOf(value[0], [...path, 0]) };
    const text = byPath.get(pathKey(path));
    if (!text) return { "x-kubernetes-preserve-unknown-fields": true };
    return isStandalone(text as never) ? environment.schemaOf(expressionsIn(text)[0]!) : { type: "string" };
  };
  const constants = constantPaths(fields, byPath);
  for (const path of constants) mistakes.push({ path: `${PATH}.${path}`, message: "must have an expression" });
  return { texts, schema: schemaOf(fields, []) };
}

/** Fields without expressions: a status reports what is observed. */
function constantPaths(
  value: unknown,
  texts: ReadonlyMap<string, CompiledText>,
  path: readonly (string | number)[] = [],
): string[] {
  if (Array.isArray(value)) return value.flatMap((item, i) => constantPaths(item, texts, [...path, i]));
  if (isObject(value))
    return Object.entries(value).flatMap(([name, field]) => constantPaths(field, texts, [...path, name]));
  const hasExpression = typeof value === "string" && value.includes("${");
  return hasExpression ? [] : [path.join(".")];
}
