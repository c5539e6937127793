import { own } from "@konverge/core";

/** Names of fields as expressions write them: those that are no identifiers are spelled with `__dash__` and the like. */

/** Words that cannot be names in expressions. */
export const RESERVED_WORDS: ReadonlySet<string> = new Set(
  (
    "true false null in as break const continue else for function if import let loop package namespace return var " +
    "void while"
  ).split(" "),
);

const ESCAPES: Record<string, string> = { __: "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__" };
const UNESCAPES: Record<string, string> = { underscores: "__", dot: ".", dash: "-", slash: "/" };

/** The identifier for a field, or undefined for a name that cannot be spelled. */
export function escapeName(name: string): string | undefined {
  if (name === "" || /^[0-9]/.test(name)) return undefined;
  if (RESERVED_WORDS.has(name)) return `__${name}__`;
  if (!/^[a-zA-Z0-9\-./_]*$/.test(name)) return undefined;
  return name.replace(/__|[-./]/g, (part) => ESCAPES[part]!);
}

/** The field that an identifier stands for, or undefined for one with an escape that does not exist. */
export function unescapeName(identifier: string): string | undefined {
  if (!identifier.includes("__")) return identifier;
  let isValid = true;
  const name = identifier.replace(/_{2}([^_]+)_{2}/g, (sequence, word: string) => {
    const plain = own(UNESCAPES, word);
    if (plain !== undefined) return plain;
    if (!RESERVED_WORDS.has(word) || sequence.length !== identifier.length) isValid = false;
    return word;
  });
  return isValid ? name : undefined;
}
