/** What the expressions of mutating policies have beyond those of others. */
import type { Library } from "../types/declarations.ts";

/** `jsonpatch.escapeKey`. */
export const jsonPatch: Library = {
  overloads: [
    [
      "string_jsonpatch_escapeKey_string",
      "jsonpatch.escapeKey(string): string",
      (key: string) => key.replace(/[~/]/g, (c) => (c === "~" ? "~0" : "~1")),
    ],
  ],
};
