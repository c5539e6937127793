import { dirname, relative } from "node:path/posix";
import { homeOf, type PublishedPackage } from "./layout.ts";

const SPECIFIER = /((?:from|import)\s*\(?\s*)"@konverge\/([a-z-]+)((?:\/[\w.-]+)?)"/g;

/**
 * Inside the repository packages import each other by name. Published, a folder of the same package is a relative path and
 * one of the other package is its subpath export: `@konverge/core` becomes `../core/index.js` or `konverge/core`.
 *
 * `file` is the importing file's place in the package (`dist/client/index.js`); `moduleOf` gives the module that a folder's
 * export leads to, relative to the folder (`index.js`).
 */
export function rewriteImports(
  text: string,
  file: string,
  target: PublishedPackage,
  moduleOf: (folder: string, subpath: string) => string,
): string {
  return text.replace(SPECIFIER, (all, before: string, folder: string, subpath: string) => {
    const home = homeOf(folder);
    if (!home) return all;
    if (home !== target) return `${before}"${home.name}/${folder}${subpath}"`;
    const path = relative(dirname(file), `dist/${folder}/${moduleOf(folder, subpath)}`);
    return `${before}"${path.startsWith(".") ? path : `./${path}`}"`;
  });
}
