import { posix } from "node:path";
import { FileError } from "../file-error.ts";
import { noInput, type Streams } from "../process.ts";
import { ExitShell, LeaveFunction, LeaveLoop } from "./control-flow.ts";
import type { Shell } from "./interpreter.ts";
import { parseScript } from "./parser.ts";

/** A command that only the shell itself can carry out. */
export type Builtin = (shell: Shell, argv: readonly string[], streams: Streams) => Promise<number>;

const OPTION_NAMES: Readonly<Record<string, string>> = {
  errexit: "e",
  nounset: "u",
  xtrace: "x",
  allexport: "a",
  noglob: "f",
};
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
  export: async (shell, [, ...words]) => assign(shell, words, (name) => shell.exported.add(name)),
  readonly: async (shell, [, ...words]) => assign(shell, words),
  local: async (shell, [, ...words]) => assign(shell, words),
  unset: async (shell, [, ...names]) => {
    for (const name of names) {
      shell.variables.delete(name);
      shell.functions.delete(name);
    }
    return 0;
  },
  shift: async (shell, [, count = "1"]) => {
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
        const option = OPTION_NAMES[named] ?? named;
        if (sign === "-") shell.options.add(option);
        else shell.options.delete(option);
      }
    }
    return 0;
  },
  eval: async (shell, [, ...words], streams) => shell.runScript(parseScript(words.join(" ")), streams),
  ".": source,
  source,
  exec: async (shell, [, ...argv], streams) => {
    if (argv.length === 0) return 0;
    throw new ExitShell(await shell.process.run(argv, { ...streams, env: shell.environment, cwd: shell.cwd }));
  },
  command: async (shell, [, ...words], streams) => {
    if (words[0] !== "-v") return shell.process.run(words, { ...streams, env: shell.environment, cwd: shell.cwd });
    const [, name = ""] = words;
    const known = shell.functions.has(name) || BUILTINS[name] !== undefined;
    const path = known ? name : shell.process.find(name);
    if (path === undefined) return 127;
    streams.stdout(`${path}\n`);
    return 0;
  },
  type: async (shell, [, name = ""], { stdout, stderr }) => {
    const path = BUILTINS[name] ? "a shell builtin" : shell.process.find(name);
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
      shell.traps.set(name, script);
      if (name === "TERM") shell.process.onTerminate(() => shell.terminated());
    }
    return 0;
  },
  wait: async (shell) => {
    const statuses = await Promise.all(shell.jobs.splice(0));
    return statuses.at(-1) ?? 0;
  },
  read: async (shell, [, ...words], { stdin }) => {
    const names = words.filter((word) => !word.startsWith("-"));
    const line = await firstLine(stdin);
    const fields = (line ?? "").trim().split(/[ \t]+/);
    for (const [index, name] of names.entries())
      shell.set(name, index === names.length - 1 ? fields.slice(index).join(" ") : (fields[index] ?? ""));
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

async function source(shell: Shell, [, path = ""]: readonly string[], streams: Streams): Promise<number> {
  try {
    const text = shell.files.readText(posix.resolve(shell.cwd, path));
    return await shell.runScript(parseScript(text), streams);
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    streams.stderr(`${shell.name}: .: can't open '${path}': ${error.message}\n`);
    return 1;
  }
}

function assign(shell: Shell, words: readonly string[], also: (name: string) => void = () => {}): number {
  for (const word of words) {
    const [name = "", ...value] = word.split("=");
    if (!NAME.test(name)) continue;
    if (word.includes("=")) shell.set(name, value.join("="));
    also(name);
  }
  return 0;
}

const rests = new WeakMap<AsyncIterable<Uint8Array>, { iterator: AsyncIterator<Uint8Array>; rest: string }>();

/** The next line of an input that others read on from. */
async function firstLine(input: AsyncIterable<Uint8Array> = noInput()): Promise<string | undefined> {
  const state = rests.get(input) ?? { iterator: input[Symbol.asyncIterator](), rest: "" };
  rests.set(input, state);
  for (;;) {
    const end = state.rest.indexOf("\n");
    if (end >= 0) {
      const line = state.rest.slice(0, end);
      state.rest = state.rest.slice(end + 1);
      return line;
    }
    const { value, done } = await state.iterator.next();
    if (done) {
      const line = state.rest;
      state.rest = "";
      return line === "" ? undefined : line;
    }
    state.rest += Buffer.from(value).toString("utf8");
  }
}
