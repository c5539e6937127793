import type { Operator } from "@konverge/runtime";
import { UsageError } from "../usage-error.ts";

/** What is left of a command line when its own options are taken: modules, and settings of operators. */
export interface OpenArguments {
  readonly modules: readonly string[];
  /** By flag, without dashes. Undefined: the line ends before its value. */
  readonly flags: ReadonlyMap<string, string | undefined>;
}

/** Tells modules and settings apart: every setting has a value, after `=` or as the next word. */
export function openArguments(words: readonly string[]): OpenArguments {
  const modules: string[] = [];
  const flags = new Map<string, string | undefined>();
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    const [, flag, value] = /^--?([A-Za-z][\w-]*)(?:=(.*))?$/s.exec(word) ?? [];
    if (flag === undefined) {
      modules.push(word);
      continue;
    }
    flags.set(flag, value ?? words[++i]);
  }
  return { modules, flags };
}

/** Where the values of settings come from. */
export interface SettingSources {
  /** By flag, without dashes. */
  readonly flags: ReadonlyMap<string, string>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Every setting has its default. */
export const NO_SETTINGS: SettingSources = { flags: new Map(), env: {} };

/** The settings of an operator: a flag first, then the environment, then the default. */
export function settingsOf(
  { settings = [] }: Operator,
  { flags, env }: SettingSources,
): Record<string, string | undefined> {
  return Object.fromEntries(
    settings.map(({ flag, env: variable, default: value }) => [
      flag,
      flags.get(flag) ?? (variable === undefined ? undefined : env[variable]) ?? value,
    ]),
  );
}

/** Refuses flags that no operator has a setting for: a typing mistake must not pass for a setting. Returns those with values. */
export function checkFlags(
  operators: readonly { readonly settings?: readonly { readonly flag: string }[] }[],
  flags: OpenArguments["flags"],
  command = "run",
): Map<string, string> {
  const known = new Set(operators.flatMap(({ settings = [] }) => settings.map(({ flag }) => flag)));
  const checked = new Map<string, string>();
  for (const [flag, value] of flags) {
    if (known.has(flag)) {
      if (value === undefined) throw new UsageError(`--${flag} needs a value: --${flag}=VALUE`);
      checked.set(flag, value);
      continue;
    }
    const names = [...known].sort().map((name) => `--${name}`);
    const offer = names.length > 0 ? `these operators have ${names.join(", ")}` : "these operators have no settings";
    throw new UsageError(`unknown option --${flag}: ${offer}; "konverge ${command} --help" lists the other options`);
  }
  return checked;
}

/** The settings that are not at their default, as they are given to a command: ` --registry=example.com`. */
export function changedSettings(operator: Operator, sources: SettingSources): string {
  const values = settingsOf(operator, sources);
  const changed = (operator.settings ?? []).filter(({ flag, default: value }) => values[flag] !== value);
  return changed.map(({ flag }) => ` --${flag}=${values[flag]}`).join("");
}

/** The end of the help of a command that takes settings. */
export function settingsHelp(command: string): string {
  return `\nSettings of operators are options or environment variables. For example: npx konverge ${command} --natsAddr=nats://nats:4222`;
}
