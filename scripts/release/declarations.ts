import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path/posix";
import { emitted } from "./emit.ts";
import { destinationOf, foldersOf, type PublishedPackage } from "./layout.ts";

const SPECIFIER = /((?:from|import)\s*\(?\s*)"((?:@konverge\/|konverge)[\w./-]*)"/g;

/** Puts the declarations of a package into its `types`, each folder in another one. */
export function copyDeclarations(target: PublishedPackage, root: string, from: string = emitted): void {
  for (const folder of foldersOf(target)) {
    if (folder === target.command) continue;
    for (const path of globSync("**/*.d.ts", { cwd: join(from, folder, "src") })) {
      const file = `types/${basename(folder)}/${path}`;
      mkdirSync(dirname(join(root, file)), { recursive: true });
      const text = readFileSync(join(from, folder, "src", path), "utf8");
      writeFileSync(join(root, file), rewriteImports(text, file, target));
    }
  }
}

/** The place of the declarations of a source file: `packages/core/src/clock.ts` → `types/core/clock.d.ts`. */
export function declarationsOf(source: string): string {
  const [folder, file] = source.split("/src/") as [string, string];
  return `types/${basename(folder)}/${file.replace(/\.ts$/, ".d.ts")}`;
}

/** The text of declarations with imports as they are once published. `file` is their place in the package. */
export function rewriteImports(text: string, file: string, target: PublishedPackage): string {
  return text.replace(SPECIFIER, (all, before: string, specifier: string) => {
    const destination = destinationOf(specifier, target);
    if (!destination) return all;
    if ("outside" in destination) return `${before}"${destination.outside}"`;
    const path = relative(dirname(file), declarationsOf(destination.inside)).replace(/\.d\.ts$/, ".js");
    return `${before}"${path.startsWith(".") ? path : `./${path}`}"`;
  });
}
