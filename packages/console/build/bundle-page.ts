import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Metafile } from "esbuild";

const PAGE = fileURLToPath(new URL("../page/", import.meta.url));

/** The page, and what became part of it. */
export interface BundledPage {
  readonly files: ReadonlyMap<string, string>;
  readonly metafile: Metafile;
}

/** Builds the page: its HTML, and one script and one style sheet with everything it needs. */
export async function bundlePage(): Promise<BundledPage> {
  const { outputFiles, metafile } = await build({
    entryPoints: { console: `${PAGE}main.tsx` },
    outdir: PAGE,
    write: false,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2023",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    metafile: true,
    logLevel: "warning",
  });
  const files = new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
  files.set("index.html", readFileSync(`${PAGE}index.html`, "utf8"));
  return { files, metafile };
}
