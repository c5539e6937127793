import { readFile, rename, stat, writeFile } from "node:fs/promises";

/**
 * Puts renewed tokens into the kubeconfig they came from, where other programs look for them: a provider may accept a
 * refresh token only once. The rest of the file stays as it is, comments too; readers see the old file or the new one.
 */
export async function saveOidcTokens(
  file: string,
  user: string,
  tokens: { idToken: string; refreshToken?: string },
): Promise<void> {
  const { isMap, isSeq, parseDocument } = await import("yaml");
  const document = parseDocument(await readFile(file, "utf8"));
  const users = document.get("users");
  if (!isSeq(users)) return;
  const entry = users.items.find((item) => isMap(item) && item.get("name") === user);
  if (!isMap(entry)) return;
  entry.setIn(["user", "auth-provider", "config", "id-token"], tokens.idToken);
  if (tokens.refreshToken) entry.setIn(["user", "auth-provider", "config", "refresh-token"], tokens.refreshToken);
  const { mode } = await stat(file);
  const fresh = `${file}.${process.pid}.new`;
  await writeFile(fresh, document.toString(), { mode });
  await rename(fresh, file);
}
