import type { Operator } from "@konverge/runtime";
import { Command } from "commander";
import { type Output, outputOption } from "../output-option.ts";

/** `konverge operators` */
export function operatorsCommand(): Command {
  return new Command("operators")
    .description("list operators: what they do, their kinds and their settings")
    .argument("[modules...]", "modules that export operators (default: those of this project, or all of Konverge's)")
    .addOption(outputOption())
    .addHelpText("after", "\nFor example: npx konverge operators src/operator.ts --output json")
    .action(async (modules: string[], { output }: { output: Output }) => {
      const { loadOperators } = await import("../operators/operator-modules.ts");
      const operators = await loadOperators(modules);
      if (output === "json") console.log(JSON.stringify(operators.map(summarized), undefined, 2));
      else console.log(operators.map(described).join("\n\n"));
    });
}

/** An operator for programs. */
function summarized({ name, description, kinds, settings = [] }: Operator) {
  const own = kinds.map(({ group, version, kind, plural, namespaced }) => ({
    group,
    version,
    kind,
    plural,
    namespaced,
  }));
  return { name, description, kinds: own, settings };
}

/** An operator in a few lines. */
export function described({ name, description, kinds, settings = [] }: Operator): string {
  const lines = [`${name}: ${description}`];
  for (const { kind, group, version, plural } of kinds)
    lines.push(`  ${kind} (${plural}.${group}, stored as ${version})`);
  for (const { flag, env, default: value, description: meaning } of settings) {
    const also = env ? ` or $${env}` : "";
    lines.push(`  --${flag}${also}: ${meaning}${value ? ` Default: ${value}` : ""}`);
  }
  return lines.join("\n");
}
