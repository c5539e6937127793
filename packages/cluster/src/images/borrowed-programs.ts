import type { Container, Pod } from "@konverge/kinds";
import { parseScript, textOf } from "../userland/shell/parser.ts";
import type { Node, Script } from "../userland/shell/syntax.ts";

/**
 * Whether a container runs a program from a volume that an earlier init container was to put there, and that one only seems
 * to run: nothing has copied the program, so the container can only seem to run as well.
 */
export function runsBorrowedProgram(
  pod: Pod,
  container: Container,
  argv: readonly string[],
  isPretended: (other: Container) => boolean,
): boolean {
  const init = pod.spec?.initContainers ?? [];
  const position = init.findIndex(({ name }) => name === container.name);
  const earlier = position < 0 ? init : init.slice(0, position);
  if (earlier.length === 0) return false;
  const empty = new Set((pod.spec?.volumes ?? []).filter(({ emptyDir }) => emptyDir).map(({ name }) => name));
  const borrowed = (container.volumeMounts ?? []).filter(
    ({ name }) =>
      empty.has(name) &&
      earlier.some((other) => other.volumeMounts?.some((mount) => mount.name === name) && isPretended(other)),
  );
  if (borrowed.length === 0) return false;
  const isBorrowed = (path: string) =>
    borrowed.some(({ mountPath }) => path.startsWith(`${mountPath.replace(/\/$/, "")}/`));
  return programsOf(argv).some(isBorrowed);
}

/** The programs that a command line names: itself, and what its script calls. */
function programsOf(argv: readonly string[]): string[] {
  const script = /^-[a-z]*c$/.test(argv[1] ?? "") ? argv[2] : undefined;
  try {
    return [argv[0] ?? "", ...(script === undefined ? [] : commandsIn(parseScript(script)))];
  } catch {
    return [argv[0] ?? ""];
  }
}

function commandsIn(script: Script): string[] {
  return script.flatMap(commandsOf);
}

function commandsOf(node: Node): string[] {
  switch (node.kind) {
    case "simple": {
      const [name] = node.words;
      return name ? [textOf(name)] : [];
    }
    case "pipeline":
      return node.commands.flatMap(commandsOf);
    case "list":
      return [node.first, ...node.rest.map(({ command }) => command)].flatMap(commandsOf);
    case "background":
    case "function":
      return commandsOf(node.body);
    case "group":
    case "subshell":
    case "for":
      return commandsIn(node.body);
    case "if":
      return [
        ...node.branches.flatMap(({ condition, body }) => [...commandsIn(condition), ...commandsIn(body)]),
        ...commandsIn(node.otherwise ?? []),
      ];
    case "loop":
      return [...commandsIn(node.condition), ...commandsIn(node.body)];
    case "case":
      return node.choices.flatMap(({ body }) => commandsIn(body));
  }
}
