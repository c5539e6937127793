import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { registerHooks } from "node:module";
import { isSea } from "node:sea";
import { fileURLToPath } from "node:url";

/** The URLs of all modules that this process loads from now on. */
export function recordLoadedModules(): ReadonlySet<string> {
  const loaded = new Set<string>();
  registerHooks({
    load(url, context, nextLoad) {
      loaded.add(url);
      return nextLoad(url, context);
    },
  });
  return loaded;
}

/** A hash of all that decides what an exploration finds: modules by their content, and what else it was given. */
export function codeVersion(loaded: Iterable<string>, given: unknown): string {
  const hash = createHash("sha256").update(process.version).update(JSON.stringify(given));
  const files = [...loaded].filter((url) => url.startsWith("file:")).map((url) => fileURLToPath(url));
  // The single executable loads no modules from files: it is all of them.
  if (isSea()) files.push(process.execPath);
  for (const file of files.sort()) hash.update(`\0${file}\0`).update(readFileSync(file));
  return hash.digest("hex").slice(0, 16);
}

/** The contents of the files that a shell command names, such as a program that was built, or a script. */
export function filesIn(command: string): string[] {
  const words = command.split(/[\s'"=;|&()<>]+/).filter((word) => word !== "" && existsSync(word));
  const files = words.filter((word) => statSync(word).isFile());
  return files.map((file) => createHash("sha256").update(readFileSync(file)).digest("hex"));
}
