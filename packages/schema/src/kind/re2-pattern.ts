import { RE2JS } from "re2js";
import { DefinitionError } from "./definition-error.ts";

/**
 * A JavaScript regular expression as the API server's engine (RE2) writes it. Flags become a group at the front,
 * `\u` escapes are respelt; what RE2 does not have, such as look-ahead and back-references, throws.
 */
export function re2PatternOf(regex: RegExp, path: string): string {
  const flags = [...regex.flags].filter((flag) => flag === "i" || flag === "m" || flag === "s").join("");
  const source = regex.source
    .replace(/(?<!\\)((?:\\\\)*)\\u\{([0-9a-fA-F]+)\}/g, "$1\\x{$2}")
    .replace(/(?<!\\)((?:\\\\)*)\\u([0-9a-fA-F]{4})/g, "$1\\x{$2}");
  const pattern = flags === "" ? source : `(?${flags})${source}`;
  try {
    RE2JS.compile(pattern);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new DefinitionError(path, `the API server's regular expressions (RE2) have no ${regex}: ${why}`);
  }
  return pattern;
}
