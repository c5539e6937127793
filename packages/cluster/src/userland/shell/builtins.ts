import { posix } from "node:path";
import { own } from "@konverge/core";
import { FileError } from "../file-error.ts";
import { Input } from "../input.ts";
import type { Holding } from "../limits/memory.ts";
import type { Process, Streams } from "../process.ts";
import { ExitShell, LeaveFunction, LeaveLoop } from "./control-flow.ts";
import type { ShellNames } from "./shell-names.ts";

/** A shell, as its own commands know it. */
export interface ShellState {
  readonly process: Process;
  readonly memory: Holding;
  readonly files: Process["files"];
  readonly names: ShellNames;
  readonly options: Set<string>;
  readonly traps: Map<string, string>;
  cwd: string;
  readonly name: string;
  readonly status: number;
  parameters: readonly string[];
  get(name: string): string | undefined;
  set(name: string, value: string): void;
  spend(steps: number): Promise<void> | undefined;
  runText(text: string, streams: Streams): Promise<number>;
  execute(argv: readonly string[], streams: Streams): Promise<number>;
  wait(): Promise<number>;
  terminated(): void;
}

/** A command that only the shell itself can carry out. */
export type Builtin = (shell: ShellState, argv: readonly string[], streams: Streams) => Promise<number>;

const OPTION_NAMES: Readonly<Record<string, string>> = {
  errexit: "e",
  nounset: "u",
  xtrace: "x",
  allexport: "a",
  noglob: "f",
};
const OPTIONS = new Set([..."abCefhmnuvx", "pipefail"]);
const NEWLINE = 0x0a;
/** What a piece of input takes besides its bytes. */
const PIECE_SIZE = 64;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The commands that change the shell they run in. */
export const BUILTINS: Readonly<Record<string, Builtin>> = {
  ":": async () => 0,
  exit: async (shell, [, status]) => {
    throw new ExitShell(status === undefined ? shell.status : Number(status) & 0xff);
  },
  return: async (shell, [, status]) => {
    throw new LeaveFunction(status === undefined ? shell.status : Number(status) & 0xff);
  },
  break: async (_, [, levels = "1"]) => {
    throw new LeaveLoop(Number(levels), false);
  },
  continue: async (_, [, levels = "1"]) => {
    throw new LeaveLoop(Number(levels), true);
  },
  cd: async (shell, [, given], { stderr }) => {
    const path = posix.resolve(shell.cwd, given ?? shell.get("HOME") ?? "/");
    try {
      if (shell.files.stat(path).kind !== "directory") throw new FileError("ENOTDIR", path);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      stderr(`${shell.name}: cd: can't cd to ${given}: ${error.message}\n`);
      return 1;
    }
    shell.cwd = path;
    return 0;
  },
  pwd: async (shell, _, { stdout }) => {
    stdout(`${shell.cwd}\n`);
    return 0;
  },
  export: async (shell, [, ...words]) => assign(shell, words, (name) => shell.names.export(name)),
  readonly: async (shell, [, ...words]) => assign(shell, words),
  local: async (shell, [, ...words]) => assign(shell, words),
  unset: async (shell, [, ...names]) => {
    for (const name of names) {
      shell.names.unset(name);
    }
    return 0;
  },
  shift: async (shell, [, count = "1"]) => {
    await shell.spend(shell.parameters.length / 256);
    shell.parameters = shell.parameters.slice(Number(count));
    return 0;
  },
  set: async (shell, [, ...words]) => {
    for (let at = 0; at < words.length; at++) {
      const word = words[at]!;
      if (word === "--") {
        shell.parameters = words.slice(at + 1);
        return 0;
      }
      const [, sign, letters] = /^([-+])([a-z]+)$/.exec(word) ?? [];
      if (letters === undefined) {
        shell.parameters = words.slice(at);
        return 0;
      }
      for (const letter of letters) {
        const named = letter === "o" ? (words[++at] ?? "") : letter;
        const option = own(OPTION_NAMES, named) ?? named;
        if (sign === "+") shell.options.delete(option);
        else if (OPTIONS.has(option)) shell.options.add(option);
      }
    }
    return 0;
  },
  eval: async (shell, [, ...words], streams) => shell.runText(words.join(" "), streams),
  ".": source,
  source,
  exec: async (shell, [, ...argv], streams) => {
    if (argv.length === 0) return 0;
    throw new ExitShell(await shell.execute(argv, streams));
  },
  command: async (shell, [, ...words], streams) => {
    if (words[0] !== "-v") return shell.execute(words, streams);
    const [, name = ""] = words;
    const known = shell.names.function(name) !== undefined || Object.hasOwn(BUILTINS, name);
    const path = known ? name : shell.process.find(name);
    if (path === undefined) return 127;
    streams.stdout(`${path}\n`);
    return 0;
  },
  type: async (shell, [, name = ""], { stdout, stderr }) => {
    const path = Object.hasOwn(BUILTINS, name) ? "a shell builtin" : shell.process.find(name);
    if (path === undefined) {
      stderr(`${name}: not found\n`);
      return 127;
    }
    stdout(`${name} is ${path}\n`);
    return 0;
  },
  trap: async (shell, [, script = "", ...signals]) => {
    for (const given of signals) {
      const name = given === "0" ? "EXIT" : given === "15" ? "TERM" : given.replace(/^SIG/, "");
      // No other signal ever comes.
      if (name !== "EXIT" && name !== "TERM") continue;
      shell.traps.set(name, script);
      if (name === "TERM") shell.process.onTerminate(() => shell.terminated());
    }
    return 0;
  },
  wait: async (shell) => shell.wait(),
  read: async (shell, [, ...words], { stdin }) => {
    const names = words.filter((word) => !word.startsWith("-"));
    const line = await firstLine(shell, Input.of(stdin));
    // One more than there are names: the rest of the line belongs to the last.
    const fields = (line ?? "").trim().split(/[ \t]+/, names.length + 1);
    for (const [index, name] of names.entries())
      shell.set(name, index === names.length - 1 ? rest(line ?? "", index) : (fields[index] ?? ""));
    return line === undefined ? 1 : 0;
  },
  umask: async () => 0,
  ulimit: async (_, __, { stdout }) => {
    stdout("unlimited\n");
    return 0;
  },
};
// They are found by names that scripts give: `constructor` is none.
Object.setPrototypeOf(BUILTINS, null);

async function source(shell: ShellState, [, path = ""]: readonly string[], streams: Streams): Promise<number> {
  try {
    const text = shell.files.readText(posix.resolve(shell.cwd, path));
    return await shell.runText(text, streams);
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    streams.stderr(`${shell.name}: .: can't open '${path}': ${error.message}\n`);
    return 1;
  }
}

function assign(shell: ShellState, words: readonly string[], also: (name: string) => void = () => {}): number {
  for (const word of words) {
    const end = word.indexOf("=");
    const name = end < 0 ? word : word.slice(0, end);
    if (!NAME.test(name)) continue;
    if (end >= 0) shell.set(name, word.slice(end + 1));
    also(name);
  }
  return 0;
}

/** The rest of a line after its first `count` words. */
function rest(line: string, count: number): string {
  const blanks = /[ \t]+/y;
  const word = /[^ \t]+/y;
  const text = line.trim();
  let at = 0;
  for (let index = 0; index < count && at < text.length; index++) {
    word.lastIndex = at;
    word.exec(text);
    blanks.lastIndex = word.lastIndex;
    blanks.exec(text);
    at = blanks.lastIndex || text.length;
  }
  return text.slice(at);
}

/** The next line of an input that others read on from. */
async function firstLine({ memory }: ShellState, input: Input): Promise<string | undefined> {
  const held = memory.open();
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for (;;) {
      const piece = await input.next();
      const end = piece?.indexOf(NEWLINE) ?? -1;
      if (piece) {
        const taken = end < 0 ? piece : piece.subarray(0, end);
        length += taken.length;
        held.checkText(length);
        held.hold(taken.length + PIECE_SIZE);
        pieces.push(taken);
        if (end >= 0) input.unread(piece.subarray(end + 1));
      }
      if (piece && end < 0) continue;
      if (!piece && length === 0) return undefined;
      return Buffer.concat(pieces).toString("utf8");
    }
  } finally {
    held.close();
  }
}
