import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const PAGE = fileURLToPath(new URL("../page/", import.meta.url));

/** Builds the page: its HTML, and one script and one style sheet with everything it needs. */
export async function bundlePage(): Promise<Map<string, string>> {
  const { outputFiles } = await build({
    entryPoints: { console: `${PAGE}main.tsx` },
    outdir: PAGE,
    write: false,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2023",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "inline",
    logLevel: "warning",
  });
  const files = new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
  files.set("index.html", readFileSync(`${PAGE}index.html`, "utf8"));
  return files;
}
