import { resolve } from "node:path";
import type { Files } from "../manifests/files.ts";
import { UsageError } from "../usage-error.ts";

export const CHECK_OPTION = [
  "--check",
  "write nothing; fail and show the differences if the folder is not up to date",
] as const;

/** Writes the files of a command to a folder and prints what changed; or only checks that nothing would change. */
export async function writeFiles(
  command: string,
  { output, check }: { readonly output: string; readonly check?: boolean },
  files: Files,
): Promise<void> {
  const { manifestDifferences, writeManifests } = await import("../manifests/write-manifests.ts");
  const folder = resolve(output);
  if (check) {
    const differences = manifestDifferences(folder, files, command);
    if (differences.length === 0) return console.log(`${output} is up to date`);
    throw new UsageError(
      `${output} is not up to date: \n${differences.join("\n")}\nWrite it with: konverge ${command}`,
    );
  }
  const { changed, removed } = writeManifests(folder, files, command);
  for (const path of changed) console.log(`${output}/${path} written`);
  for (const path of removed) console.log(`${output}/${path} removed`);
  if (changed.length + removed.length === 0) console.log(`${output} is up to date`);
}
