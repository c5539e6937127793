/** Expressions in templates: a text `${a.b}` is replaced by the value, `name-${a.b}` by a text. */
import { isObject } from "@konverge/core";

/** A text with expressions in it. */
export interface TemplateText {
  readonly path: readonly (string | number)[];
  /** Texts, and between them expressions without their `${` and `}`. */
  readonly parts: readonly (string | { readonly expression: string })[];
}

/** Whether the text is one expression and nothing else: its value need not be a string. */
export const isStandalone = ({ parts }: Pick<TemplateText, "parts">) =>
  parts.length === 1 && typeof parts[0] !== "string";

/** All texts with expressions in a template. Expressions in the names of fields are not replaced. */
export function* templateTexts(
  template: unknown,
  path: readonly (string | number)[] = [],
): Generator<TemplateText | { readonly path: readonly (string | number)[]; readonly problem: string }> {
  if (typeof template === "string") {
    const parts = splitText(template);
    if (typeof parts === "string") yield { path, problem: parts };
    else if (parts.some((part) => typeof part !== "string")) yield { path, parts };
  } else if (Array.isArray(template)) {
    for (const [i, item] of template.entries()) yield* templateTexts(item, [...path, i]);
  } else if (isObject(template)) {
    for (const [name, field] of Object.entries(template)) yield* templateTexts(field, [...path, name]);
  }
}

/** The parts of a text, or what is wrong with it. A `${` that is never closed is text. */
export function splitText(text: string): TemplateText["parts"] | string {
  const parts: (string | { expression: string })[] = [];
  let literal = "";
  let at = 0;
  while (at < text.length) {
    const end = text.startsWith("${", at) ? endOfExpression(text, at + 2) : undefined;
    if (end === "nested") return "an expression is inside of another one: only string literals can contain ${";
    if (end === undefined) {
      literal += text[at++];
      continue;
    }
    if (literal !== "") parts.push(literal);
    literal = "";
    parts.push({ expression: text.slice(at + 2, end).trim() });
    at = end + 1;
  }
  if (literal !== "") parts.push(literal);
  return parts;
}

function endOfExpression(text: string, start: number): number | "nested" | undefined {
  let depth = 1;
  let quote: string | undefined;
  for (let at = start; at < text.length; at++) {
    const c = text[at]!;
    if (quote) {
      if (c === "\\") at++;
      else if (c === quote) quote = undefined;
    } else if (c === '"' || c === "'") quote = c;
    else if (text.startsWith("${", at)) return "nested";
    else if (c === "{") depth++;
    else if (c === "}" && --depth === 0) return at;
  }
  return undefined;
}

/** A copy of a template with the values of its texts; `undefined` removes the field. */
export function filled(
  template: unknown,
  values: ReadonlyMap<string, unknown>,
  path: readonly (string | number)[] = [],
): unknown {
  if (typeof template === "string") {
    const key = pathKey(path);
    return values.has(key) ? values.get(key) : template;
  }
  if (Array.isArray(template)) {
    return template.map((item, i) => filled(item, values, [...path, i])).filter((item) => item !== undefined);
  }
  if (!isObject(template)) return template;
  const entries = Object.entries(template).map(
    ([name, field]) => [name, filled(field, values, [...path, name])] as const,
  );
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** The key of a path in a map. */
export const pathKey = (path: readonly (string | number)[]) => JSON.stringify(path);

/** A path as messages have it: `spec.containers[0].image`. */
export function pathText(path: readonly (string | number)[]): string {
  return path.map((part, i) => (typeof part === "number" ? `[${part}]` : i === 0 ? part : `.${part}`)).join("");
}
