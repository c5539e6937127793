import type { Command, Option } from "commander";

/** The page of the reference about the command, generated from the command's help. */
export function reference(program: Command): string {
  const commands = program.commands.filter((command) => !isHidden(command)).flatMap(withParts);
  return [
    "# The command",
    "",
    "Generated from the command's help (`node packages/cli/src/write-reference.ts`). For how to use it, see the",
    "guide: [running operators](../guide/running-operators.md), [programs in pods](../guide/programs.md).",
    "",
    "| command | what it does |",
    "|---|---|",
    ...commands.map(
      (command) => `| [\`konverge ${nameOf(command)}\`](#${anchor(command)}) | ${command.description()} |`,
    ),
    "",
    ...commands.flatMap(section),
    "## Environment and exit codes",
    "",
    "`KONVERGE_DEBUG=1` adds stack traces to errors. `KONVERGE_HOME` is the folder that lists running clusters (default:",
    "`~/.konverge`). `NO_COLOR` turns colors off; colors and progress are shown only on a terminal in any case.",
    "",
    "| exit code | meaning |",
    "|---|---|",
    "| 0 | success |",
    "| 1 | failure, with the reason on standard error; for `doctor`, `explore` and `rbac check`: something was found; for `replay`: something differs; for `manifests`, `chart`, `bundle` and `docs` with `--check`: the folder is not up to date; for `status`: no cluster runs, or one cannot be read |",
    "| 2 | for `diff-crd`: a change is breaking |",
    "| 130 | interrupted: by a second Ctrl-C, or by the first for `migrate-storage`, and for `up` while real nodes start |",
    "",
  ].join("\n");
}

function section(command: Command): string[] {
  const words = command.registeredArguments.map((one) => `[${one.name()}${one.variadic ? "…" : ""}]`);
  const rows = command.options.map((option) => `| \`${option.flags}\` | ${cell(option)} |`);
  const hints = command.registeredArguments.map((one) => `\`${one.name()}\`: ${one.description}.`);
  return [
    `## konverge ${nameOf(command)}`,
    "",
    `\`konverge ${[nameOf(command), ...words].join(" ")}\`: ${command.description()}.`,
    "",
    ...(hints.length > 0 ? [...hints, ""] : []),
    ...(rows.length > 0 ? ["| option | description |", "|---|---|", ...rows, ""] : []),
  ];
}

function cell({ description, argChoices, ...option }: Option): string {
  const choices = argChoices ? ` (${argChoices.join(", ")})` : "";
  return `${description}${choices}${defaultText(option)}`.replaceAll("|", "\\|");
}

function defaultText({
  defaultValue,
  defaultValueDescription,
}: Pick<Option, "defaultValue" | "defaultValueDescription">) {
  if (defaultValueDescription !== undefined) return `. Default: ${defaultValueDescription}`;
  return !defaultValue || defaultValue === true ? "" : `. Default: \`${defaultValue}\``;
}

/** A command that only holds others stands for these. */
const withParts = (command: Command): readonly Command[] =>
  command.commands.length > 0 ? command.commands : [command];

/** `create api`. */
function nameOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${parent.name()} ${command.name()}` : command.name();
}

const anchor = (command: Command) => `konverge-${nameOf(command).replaceAll(" ", "-")}`;
const isHidden = (command: Command) => (command as unknown as { _hidden?: boolean })._hidden === true;
