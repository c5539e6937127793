import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { CustomResourceDefinition } from "@konverge/kinds";
import { parseYaml } from "@konverge/schema";
import { UsageError } from "../usage-error.ts";

/** The CRDs in a file, or in all files of a folder; other objects are left out. */
export function readCrds(path: string): CustomResourceDefinition[] {
  if (!existsSync(path)) throw new UsageError(`there is no file or folder ${path}`);
  const files = statSync(path).isDirectory()
    ? globSync("**/*.{yaml,yml,json}", { cwd: path })
        .sort()
        .map((file) => join(path, file))
    : [path];
  const crds = new Map<string, CustomResourceDefinition>();
  for (const crd of files.flatMap(crdsIn)) crds.set(crd.metadata.name, crd);
  if (crds.size === 0) throw new UsageError(`there is no CustomResourceDefinition in ${path}`);
  return [...crds.values()];
}

function crdsIn(file: string): CustomResourceDefinition[] {
  let documents: unknown[];
  try {
    documents = parseYaml(readFileSync(file, "utf8"));
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
  return documents
    .flatMap((one) =>
      (one as { kind?: string } | null)?.kind === "List" ? (one as { items: unknown[] }).items : [one],
    )
    .filter(
      (one) => (one as { kind?: string } | null)?.kind === "CustomResourceDefinition",
    ) as CustomResourceDefinition[];
}
