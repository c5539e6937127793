import { SelectorError } from "./label-selector.ts";

/** One requirement on a selectable field. A list requires all of them. */
export interface FieldRequirement {
  readonly field: string;
  readonly operator: "=" | "!=";
  readonly value: string;
}

/** Parses `metadata.name=web,status.phase!=Running`; throws a {@link SelectorError} in Kubernetes' words. */
export function parseFieldSelector(text: string): FieldRequirement[] {
  const requirements: FieldRequirement[] = [];
  for (const term of splitTerms(text).sort()) {
    if (term === "") continue;
    // No escapes on the left: the first operator is the one.
    const operator = /!=|==|=/.exec(term);
    if (!operator) throw new SelectorError(`invalid selector: '${text}'; can't understand '${term}'`);
    const field = term.slice(0, operator.index);
    const value = unescapeValue(term.slice(operator.index + operator[0].length));
    if (field !== "" || value !== "") requirements.push({ field, operator: operator[0] === "!=" ? "!=" : "=", value });
  }
  return requirements;
}

/** Whether an object's selectable fields meet all requirements. A missing field is empty. */
export function matchesFields(requirements: readonly FieldRequirement[], fields: Record<string, string>): boolean {
  return requirements.every(({ field, operator, value }) => {
    const actual = Object.hasOwn(fields, field) ? fields[field] : "";
    return operator === "=" ? actual === value : actual !== value;
  });
}

/** The one value that a field must have to be selected, if there is one. */
export function exactFieldValue(requirements: readonly FieldRequirement[], field: string): string | undefined {
  return requirements.find((requirement) => requirement.field === field && requirement.operator === "=")?.value;
}

/** A comma after a backslash is part of a term; escapes are left as they are. */
function splitTerms(text: string): string[] {
  const terms = [""];
  for (const [part] of text.matchAll(/\\.?|,|[^\\,]+/gsu)) {
    if (part === ",") terms.push("");
    else terms[terms.length - 1] += part;
  }
  return terms;
}

function unescapeValue(text: string): string {
  return text.replace(/\\(.?)|[,=]/gsu, (found, escaped: string | undefined) => {
    if (escaped === undefined) {
      throw new SelectorError(`invalid field selector: unescaped character in value: ${found.codePointAt(0)}`);
    }
    if (escaped === "" || !"\\,=".includes(escaped)) {
      throw new SelectorError(`invalid field selector: invalid escape sequence: ${found}`);
    }
    return escaped;
  });
}
