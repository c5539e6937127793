import { Command } from "commander";
import type { CrdChanges } from "../diff-crd/crd-changes.ts";
import { type Output, outputOption } from "../output-option.ts";
import { UsageError } from "../usage-error.ts";

interface DiffFlags {
  readonly all?: boolean;
  readonly storedIn?: string;
  readonly kubeconfig?: string;
  readonly operator?: readonly string[];
  readonly output: Output;
}

/** `konverge diff-crd` */
export function diffCrdCommand(): Command {
  return new Command("diff-crd")
    .description("compare CRDs, or check new ones against stored objects, and fail if a change breaks something")
    .argument(
      "<crds...>",
      "files or folders: the CRDs as they were and as they are to be; with --stored-in only the latter",
    )
    .option(
      "--stored-in <where>",
      "check against the objects in this: a context of the kubeconfig, or a file of `konverge snapshot`",
    )
    .option("--kubeconfig <file>", "with --stored-in: kubeconfig file (default: $KUBECONFIG or ~/.kube/config)")
    .option("--operator <modules...>", "with --stored-in: modules that export the operators whose conversions are used")
    .addOption(outputOption())
    .option("--all", "also list the changes that break nothing")
    .addHelpText(
      "after",
      `
Without --stored-in, the schemas are compared, with all that objects could be. With it, each stored object is read, converted and
written under the new CRDs in an embedded API server, and those are named that a change breaks. A live cluster is only read.

Exits with 0 if no change breaks anything, with 2 if one does, and with 1 if the CRDs cannot be read.
Examples:
  npx konverge diff-crd released/crds config/note-operator/crds
  npx konverge diff-crd old.yaml new.yaml --all --output json
  npx konverge diff-crd --stored-in prod config/note-operator/crds --operator src/operator.ts`,
    )
    .action(async (crds: string[], flags: DiffFlags) => {
      const breaking =
        flags.storedIn === undefined ? await compare(crds, flags) : await check(crds, flags.storedIn, flags);
      if (breaking > 0) process.exitCode = 2;
    });
}

async function compare(crds: readonly string[], { output, all, ...flags }: DiffFlags): Promise<number> {
  const [old, next, ...more] = crds;
  if (flags.kubeconfig !== undefined || flags.operator)
    throw new UsageError("--kubeconfig and --operator are for --stored-in");
  if (old === undefined || next === undefined || more.length > 0)
    throw new UsageError("pass two files or folders: the CRDs as they were, and as they are to be");
  const { crdSetChanges } = await import("../diff-crd/crd-changes.ts");
  const { readCrds } = await import("../diff-crd/read-crds.ts");
  const found = crdSetChanges(readCrds(old), readCrds(next));
  const listed = found.map(({ name, changes }) => ({
    name,
    changes: changes.filter((one) => all || one.breaking),
  }));
  const breaking = found.flatMap(({ changes }) => changes).filter((one) => one.breaking).length;
  if (output === "json") console.log(JSON.stringify({ breaking, crds: listed }, undefined, 2));
  else for (const line of changeLines(listed)) console.log(line);
  if (output !== "json") console.log(summary(breaking));
  return breaking;
}

function changeLines(crds: readonly CrdChanges[]): string[] {
  return crds.flatMap(({ name, changes }) =>
    changes.map((change) => {
      const where = [name, change.path].filter((part) => part !== "").join(" ");
      return `${change.breaking ? "breaking" : "ok"}: ${where}: ${change.message}`;
    }),
  );
}

async function check(crds: readonly string[], storedIn: string, flags: DiffFlags): Promise<number> {
  const { existsSync } = await import("node:fs");
  const { readCrds } = await import("../diff-crd/read-crds.ts");
  const { checkStored } = await import("../diff-crd/stored-objects.ts");
  const { isBreaking, storedFindingLine } = await import("../diff-crd/stored-findings.ts");
  const { loadOperators } = await import("../operators/operator-modules.ts");
  const { kubeconfig, operator, output, all } = flags;
  const live = { context: storedIn, ...(kubeconfig !== undefined && { kubeconfig }) };
  const where = existsSync(storedIn) ? { file: storedIn } : { live };
  const operators = operator ? await loadOperators(operator) : [];
  const { findings, objects } = await checkStored(crds.flatMap(readCrds), where, operators);
  const breaking = findings.filter(isBreaking).length;
  const listed = findings.filter((one) => all || one.type !== "changed");
  if (output === "json") console.log(JSON.stringify({ objects, breaking, findings: listed }, undefined, 2));
  else {
    for (const finding of listed) console.log(storedFindingLine(finding));
    console.log(`${objects} stored ${objects === 1 ? "object" : "objects"} checked: ${summary(breaking)}`);
  }
  return breaking;
}

function summary(breaking: number): string {
  if (breaking === 0) return "no breaking changes";
  return `${breaking} breaking change${breaking === 1 ? "" : "s"}`;
}
