import { Command } from "commander";
import { type Output, outputOption } from "../output-option.ts";

/** `konverge diff-crd` */
export function diffCrdCommand(): Command {
  return new Command("diff-crd")
    .description("compare CRDs, and fail if a change breaks existing objects, clients or manifests")
    .argument("<old>", "file or folder with the CRDs as they were")
    .argument("<new>", "file or folder with the CRDs as they are to be")
    .addOption(outputOption())
    .option("--all", "also list the changes that break nothing")
    .addHelpText(
      "after",
      `
Exits with 0 if no change breaks anything, with 2 if one does, and with 1 if the CRDs cannot be read.
Examples:
  npx konverge diff-crd released/crds config/note-operator/crds
  npx konverge diff-crd old.yaml new.yaml --all --output json`,
    )
    .action(async (old: string, next: string, { output, all }: { output: Output; all?: boolean }) => {
      const { crdSetChanges } = await import("../diff-crd/crd-changes.ts");
      const { readCrds } = await import("../diff-crd/read-crds.ts");
      const found = crdSetChanges(readCrds(old), readCrds(next));
      const listed = found.map(({ name, changes }) => ({
        name,
        changes: changes.filter((one) => all || one.breaking),
      }));
      const breaking = found.flatMap(({ changes }) => changes).filter((one) => one.breaking).length;
      if (output === "json") console.log(JSON.stringify({ breaking, crds: listed }, undefined, 2));
      else {
        for (const { name, changes } of listed) {
          for (const change of changes) {
            const where = [name, change.path].filter((part) => part !== "").join(" ");
            console.log(`${change.breaking ? "breaking" : "ok"}: ${where}: ${change.message}`);
          }
        }
        console.log(breaking === 0 ? "no breaking changes" : `${breaking} breaking change${breaking === 1 ? "" : "s"}`);
      }
      if (breaking > 0) process.exitCode = 2;
    });
}
