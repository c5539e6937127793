import type { Operator } from "@konverge/runtime";
import { Command } from "commander";

/** `konverge operators` */
export function operatorsCommand(): Command {
  return new Command("operators")
    .description("list operators: what they do, their kinds and their settings")
    .argument("[modules...]", "modules that export operators (default: those of this project, or all of Konverge's)")
    .action(async (modules: string[]) => {
      const { loadOperators } = await import("../operators/operator-modules.ts");
      console.log((await loadOperators(modules)).map(described).join("\n\n"));
    });
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
