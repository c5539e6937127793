import type { Operator } from "@konverge/runtime";
import { UsageError } from "../usage-error.ts";

/** What is left of a command line when its own options are taken: modules, and settings of operators. */
export interface OpenArguments {
  readonly modules: readonly string[];
  /** By flag, without dashes. */
  readonly flags: ReadonlyMap<string, string>;
}

/** Tells modules and settings apart: every setting has a value, after `=` or as the next word. */
export function openArguments(words: readonly string[]): OpenArguments {
  const modules: string[] = [];
  const flags = new Map<string, string>();
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    const [, flag, value] = /^--?([A-Za-z][\w-]*)(?:=(.*))?$/s.exec(word) ?? [];
    if (flag === undefined) {
      modules.push(word);
      continue;
    }
    const next = value ?? words[++i];
    if (next === undefined) throw new UsageError(`--${flag} needs a value: --${flag}=VALUE`);
    flags.set(flag, next);
  }
  return { modules, flags };
}

/** The settings of an operator: a flag first, then the environment, then the default. */
export function settingsOf(
  { settings = [] }: Operator,
  flags: ReadonlyMap<string, string>,
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  return Object.fromEntries(
    settings.map(({ flag, env: variable, default: value }) => [
      flag,
      flags.get(flag) ?? (variable === undefined ? undefined : env[variable]) ?? value,
    ]),
  );
}

/** Refuses flags that no operator has a setting for: a typing mistake must not pass for a setting. */
export function checkFlags(operators: readonly Operator[], flags: ReadonlyMap<string, string>): void {
  const known = new Set(operators.flatMap(({ settings = [] }) => settings.map(({ flag }) => flag)));
  for (const flag of flags.keys()) {
    if (known.has(flag)) continue;
    const names = [...known].sort().map((name) => `--${name}`);
    const offer = names.length > 0 ? `these operators have ${names.join(", ")}` : "these operators have no settings";
    throw new UsageError(`unknown option --${flag}: ${offer}; "konverge run --help" lists the other options`);
  }
}
