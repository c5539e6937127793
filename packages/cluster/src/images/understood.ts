import { posix } from "node:path";
import type { Container } from "@konverge/kinds";
import { APPLETS } from "../userland/applets/applets.ts";
import { BUILTINS } from "../userland/shell/builtins.ts";
import { parseScript, textOf } from "../userland/shell/parser.ts";
import type { Node, Script, Word } from "../userland/shell/syntax.ts";
import { BUSYBOX_COMMANDS } from "./busybox-commands.ts";
import { commandLine } from "./container-space.ts";
import type { Image } from "./image.ts";
import { isPlainImage } from "./plain-images.ts";

/** Plain images whose commands are all known by name. */
const OF_BUSYBOX = /(^|\/)(busybox|alpine|bash)(:|@|$)/;
/** Where commands that are named without a path are. */
const SYSTEM_PATH = /^(\/usr)?(\/local)?\/s?bin\//;
/** Commands that mean the same in every image. */
const EVERYWHERE = new Set(["echo", "printf", "sleep", "true", "false", "seq", "expr", "date"]);
/** What Linux lets an argument hold, in bytes. */
const LONGEST_ARGUMENT = 128 * 1024;
const SHELL = /^(\/usr)?(\/bin\/)?(ba|da|a)?sh$/;

/**
 * Whether what a container runs can be carried out in a simulated userland: its image brings its own commands, or is no
 * more than a shell, or its script consists of what means the same everywhere. Any other container only seems to run.
 */
export function isUnderstood(image: Image | undefined, container: Container): boolean {
  if (image?.run) return false;
  const argv = commandLine(image ?? {}, container);
  const [first] = argv;
  if (first === undefined) return false;
  const base = first.replace(SYSTEM_PATH, "");
  if (image?.commands)
    return image.commands[first] !== undefined || image.commands[base] !== undefined || APPLETS[base] !== undefined;
  if (isPlainImage(container.image)) return APPLETS[base] !== undefined && !(SHELL.test(first) && argv.length === 1);
  if (!SHELL.test(first) || !/^-[a-z]*c$/.test(argv[1] ?? "")) return false;
  if ((argv[2] ?? "").length > LONGEST_ARGUMENT) return false;
  try {
    return isPlain(parseScript(argv[2] ?? ""), new Set());
  } catch {
    return false;
  }
}

/**
 * Why a container cannot be started, in runc's words: its image is known to have no such program. A program in a volume may
 * have been put there by a container that only seems to run.
 */
export function startProblem(image: Image | undefined, container: Container): string | undefined {
  const [first = ""] = commandLine(image ?? {}, container);
  if (image?.run || first === "" || first.includes("$(") || hasProgram(image, container, first)) return undefined;
  const why = first.includes("/") ? `stat ${first}: no such file or directory` : "executable file not found in $PATH";
  return `failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: exec: "${first}": ${why}`;
}

/** Whether an image may have a program: only those that are known by more than their name certainly do not. */
function hasProgram(image: Image | undefined, container: Container, program: string): boolean {
  const base = program.replace(SYSTEM_PATH, "");
  if (APPLETS[base] !== undefined || image?.commands?.[program] || image?.commands?.[base]) return true;
  const path = posix.resolve("/", container.workingDir ?? image?.workingDir ?? "", program);
  const isIn = (folder: string) => path.startsWith(`${posix.resolve("/", folder)}/`);
  if (program.includes("/") && container.volumeMounts?.some(({ mountPath }) => isIn(mountPath))) return true;
  if (image?.commands) return Object.keys(image.files ?? {}).some((file) => posix.resolve("/", file) === path);
  if (!isPlainImage(container.image)) return true;
  return !base.includes("/") && (!OF_BUSYBOX.test(container.image ?? "") || BUSYBOX_COMMANDS.has(base));
}

function isPlain(script: Script, functions: Set<string>): boolean {
  return script.every((node) => isPlainNode(node, functions));
}

function isPlainNode(node: Node, functions: Set<string>): boolean {
  switch (node.kind) {
    case "simple": {
      const words = [
        ...node.words,
        ...node.assignments.map(({ value }) => value),
        ...node.redirections.map(({ target }) => target),
      ];
      if (!words.every((word) => isPlainWord(word, functions))) return false;
      if (node.redirections.some(({ operator }) => operator === "<")) return false;
      const [name] = node.words;
      if (!name) return true;
      if (name.some(({ kind }) => kind !== "text")) return false;
      const command = textOf(name);
      const isOwn =
        BUILTINS[command] !== undefined && !["exec", "eval", ".", "source", "command", "cd"].includes(command);
      return EVERYWHERE.has(command.replace(/^(\/usr)?\/bin\//, "")) || isOwn || functions.has(command);
    }
    case "pipeline":
      return node.commands.every((one) => isPlainNode(one, functions));
    case "list":
      return [node.first, ...node.rest.map(({ command }) => command)].every((one) => isPlainNode(one, functions));
    case "background":
      return isPlainNode(node.body, functions);
    case "group":
    case "subshell":
      return isPlain(node.body, functions);
    case "if":
      return (
        node.branches.every(({ condition, body }) => isPlain(condition, functions) && isPlain(body, functions)) &&
        (!node.otherwise || isPlain(node.otherwise, functions))
      );
    case "loop":
      return isPlain(node.condition, functions) && isPlain(node.body, functions);
    case "for":
      return (node.words ?? []).every((word) => isPlainWord(word, functions)) && isPlain(node.body, functions);
    case "case":
      return node.choices.every(({ body }) => isPlain(body, functions));
    case "function":
      functions.add(node.name);
      return isPlainNode(node.body, functions);
  }
}

function isPlainWord(word: Word, functions: Set<string>): boolean {
  return word.every((part) => part.kind !== "command" || isPlain(part.script, functions));
}
