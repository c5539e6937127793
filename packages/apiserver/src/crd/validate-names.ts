import { append, dns1035LabelErrors, type FieldError } from "@konverge/core";
import type { CrdNames } from "@konverge/schema";
import { invalidValue, required } from "@konverge/schema";

/** What is wrong with names, where they are given at all. */
export function namesErrors(names: CrdNames, path: string): FieldError[] {
  const { plural = "", singular = "", kind = "", listKind = "", shortNames, categories } = names;
  const errors: FieldError[] = [];
  const check = (field: string, value: string, { mixedCase = false } = {}) => {
    const problems = value === "" ? [] : dns1035LabelErrors(mixedCase ? value.toLowerCase() : value);
    if (problems.length === 0) return;
    const detail = `${mixedCase ? "may have mixed case, but should otherwise match: " : ""}${problems.join(",")}`;
    errors.push(invalidValue(`${path}.${field}`, value, detail));
  };
  check("plural", plural);
  check("singular", singular);
  check("kind", kind, { mixedCase: true });
  check("listKind", listKind, { mixedCase: true });
  append(errors, labelErrors(shortNames, `${path}.shortNames`));
  if (kind !== "" && kind === listKind) {
    errors.push(invalidValue(`${path}.listKind`, listKind, "kind and listKind may not be the same"));
  }
  append(errors, labelErrors(categories, `${path}.categories`));
  return errors;
}

function labelErrors(values: readonly string[] | null | undefined, path: string): FieldError[] {
  return (values ?? []).flatMap((value, index) => {
    const problems = dns1035LabelErrors(value);
    return problems.length === 0 ? [] : [invalidValue(`${path}[${index}]`, value, problems.join(","))];
  });
}

/** The names that a CRD must have. */
export function missingNames(names: CrdNames, path: string): FieldError[] {
  return (["plural", "singular", "kind", "listKind"] as const)
    .filter((field) => !names[field])
    .map((field) => required(`${path}.${field}`));
}
