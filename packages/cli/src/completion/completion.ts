import type { Command } from "commander";

/** The shells that completion is written for. */
export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** What can follow the words of a command line. */
interface Completions {
  /** The words before, without the program: `create api`. Empty for the program itself. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly about: string }[];
  readonly options: readonly { readonly flag: string; readonly about: string; readonly choices: readonly string[] }[];
}

/** A script that completes the commands, options and choices of the program in a shell. */
export function completionScript(program: Command, shell: Shell): string {
  const all = completionsOf(program);
  return shell === "bash" ? bash(all) : shell === "zsh" ? zsh(all) : fish(all);
}

function completionsOf(command: Command, path: readonly string[] = []): Completions[] {
  const visible = command.commands.filter((one) => (one as unknown as { _hidden?: boolean })._hidden !== true);
  const own: Completions = {
    path: path.join(" "),
    commands: visible.map((one) => ({ name: one.name(), about: one.description() })),
    options: [
      ...command.options.flatMap(({ long, description, argChoices = [] }) =>
        long ? [{ flag: long, about: description, choices: argChoices }] : [],
      ),
      { flag: "--help", about: "display help for command", choices: [] },
    ],
  };
  return [own, ...visible.flatMap((one) => completionsOf(one, [...path, one.name()]))];
}

/** The words of the command line that are commands, as a shell function: options and their values are in between. */
const KNOWN = (all: readonly Completions[]) => all.map(({ path }) => path).filter((path) => path !== "");

const wordsOf = ({ commands, options }: Completions) =>
  [...commands.map(({ name }) => name), ...options.map(({ flag }) => flag)].join(" ");

const choicesOf = (all: readonly Completions[]) =>
  all.flatMap(({ path, options }) =>
    options
      .filter(({ choices }) => choices.length > 0)
      .map(({ flag, choices }) => ({ key: `${path} ${flag}`.trim(), choices })),
  );

function bash(all: readonly Completions[]): string {
  return `# Completion of konverge for bash. Load it with: source <(konverge completion bash)
_konverge() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} path= words= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${path:+$path }\${COMP_WORDS[i]}" in
${KNOWN(all)
  .map((path) => `      "${path}") path="${path}" ;;\n`)
  .join("")}    esac
  done
  case "\${path:+$path }$before" in
${choicesOf(all)
  .map(({ key, choices }) => `    "${key}") COMPREPLY=($(compgen -W "${choices.join(" ")}" -- "$word")); return ;;\n`)
  .join("")}  esac
  case "$path" in
${all.map((one) => `    "${one.path}") words="${wordsOf(one)}" ;;\n`).join("")}  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$word"))
}
complete -F _konverge konverge
`;
}

function zsh(all: readonly Completions[]): string {
  const quoted = (text: string) => text.replaceAll("'", "'\\''").replaceAll(":", "\\:");
  return `#compdef konverge
# Completion of konverge for zsh. Load it with: source <(konverge completion zsh)
_konverge() {
  local cur_path= i
  local -a items
  for ((i = 2; i < CURRENT; i++)); do
    case "\${cur_path:+$cur_path }\${words[i]}" in
${KNOWN(all)
  .map((path) => `      "${path}") cur_path="${path}" ;;\n`)
  .join("")}    esac
  done
  case "\${cur_path:+$cur_path }\${words[CURRENT-1]}" in
${choicesOf(all)
  .map(({ key, choices }) => `    "${key}") compadd -- ${choices.join(" ")}; return ;;\n`)
  .join("")}  esac
  case "$cur_path" in
${all
  .map(({ path, commands, options }) => {
    const items = [
      ...commands.map(({ name, about }) => [name, about]),
      ...options.map(({ flag, about }) => [flag, about]),
    ];
    return `    "${path}") items=(${items.map(([name, about]) => `'${name}:${quoted(about!)}'`).join(" ")}) ;;\n`;
  })
  .join("")}  esac
  _describe 'konverge' items
  _files
}
compdef _konverge konverge
`;
}

function fish(all: readonly Completions[]): string {
  const quoted = (text: string) => text.replaceAll("\\", "\\\\").replaceAll("'", "\\'");
  const lines = all.flatMap(({ path, commands, options }) => {
    const when = `-n '__konverge_at "${path}"'`;
    return [
      ...commands.map(({ name, about }) => `complete -c konverge -f ${when} -a ${name} -d '${quoted(about)}'`),
      ...options.map(({ flag, about, choices }) => {
        const values = choices.length > 0 ? ` -x -a '${choices.join(" ")}'` : "";
        return `complete -c konverge ${when} -l ${flag.slice(2)}${values} -d '${quoted(about)}'`;
      }),
    ];
  });
  return `# Completion of konverge for fish. Load it with: konverge completion fish | source
function __konverge_at
  set -l path ''
  for word in (commandline -opc)[2..-1]
    set -l next (string trim -- "$path $word")
    if contains -- $next ${KNOWN(all)
      .map((path) => `'${path}'`)
      .join(" ")}
      set path $next
    end
  end
  test "$path" = "$argv[1]"
end
${lines.join("\n")}
`;
}
