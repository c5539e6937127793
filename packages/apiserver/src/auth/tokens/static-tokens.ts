import type { User } from "../user.ts";

/** A token that stands for a user for as long as the server runs. */
export interface StaticToken {
  readonly token: string;
  readonly user: User;
}

/** Reads the lines of a `--token-auth-file`: token, user name, uid and optionally a quoted list of groups. */
export function parseTokenFile(text: string): StaticToken[] {
  const tokens: StaticToken[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "") continue;
    // Each field ends with a comma, also the last one then.
    const fields = Array.from(
      `${line},`.matchAll(/\s*(?:"((?:[^"]|"")*)"|([^,]*))\s*,/g),
      ([, inQuotes, plain = ""]) => inQuotes?.replaceAll('""', '"') ?? plain.trim(),
    );
    const [token, name, uid, groups = ""] = fields;
    if (!token || !name || uid === undefined) {
      throw new Error(
        `line ${index + 1} of the token file needs at least three columns: token, user name, user uid[, "group1,group2"]`,
      );
    }
    const list = groups.split(",").filter((group) => group !== "");
    tokens.push({ token, user: { name, ...(uid !== "" && { uid }), groups: list } });
  }
  return tokens;
}
