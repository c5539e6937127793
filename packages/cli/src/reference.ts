import type { Command, Option } from "commander";

/** The page of the reference about the command, from what the command says of itself. */
export function reference(program: Command): string {
  const commands = program.commands.filter((command) => !isHidden(command)).flatMap(withParts);
  return [
    "# The command",
    "",
    "Written from what the command says of itself (`node packages/cli/src/write-reference.ts`). How things are done with it is in the",
    "guide: [running operators](../guide/running-operators.md), [programs in pods](../guide/programs.md).",
    "",
    "| command | what it does |",
    "|---|---|",
    ...commands.map(
      (command) => `| [\`konverge ${nameOf(command)}\`](#${anchor(command)}) | ${command.description()} |`,
    ),
    "",
    ...commands.flatMap(section),
    "`KONVERGE_DEBUG=1` adds a stack to errors. `KONVERGE_HOME` is where running clusters are noted (`~/.konverge`). Exit code 0",
    "means done, 1 that it failed, 130 that a second Ctrl-C ended it.",
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
    ...(rows.length > 0 ? ["| option | |", "|---|---|", ...rows, ""] : []),
  ];
}

function cell({ description, defaultValue, argChoices }: Option): string {
  const choices = argChoices ? ` (${argChoices.join(", ")})` : "";
  const value = textOf(defaultValue);
  return `${description}${choices}${value === "" ? "" : `. Default: \`${value}\``}`.replaceAll("|", "\\|");
}

function textOf(value: unknown): string {
  if (value === undefined || value === false || value === true) return "";
  if (typeof value === "object" && value !== null && "port" in value) return `:${value.port}`;
  return String(value);
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
