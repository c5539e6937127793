import { sleep as wait } from "@konverge/core";
import type { Command, Process } from "../process.ts";
import { Shell } from "../shell/interpreter.ts";
import { argumentsOf } from "./arguments.ts";
import { pathOf } from "./failing.ts";
import { InputFiles } from "./input-files.ts";
import { strftime } from "./strftime.ts";

const UNITS: Readonly<Record<string, number>> = { s: 1e3, m: 60e3, h: 3600e3, d: 86400e3 };

/** `1.5`, `2m`, `infinity` in milliseconds; undefined when it is not a duration. */
function durationOf(word: string): number | undefined {
  const [, number, unit = "s"] = /^(\d+(?:\.\d+)?|inf(?:inity)?)([smhd])?$/.exec(word) ?? [];
  if (number === undefined) return undefined;
  return number.startsWith("inf") ? Number.POSITIVE_INFINITY : Number(number) * UNITS[unit]!;
}

const sleep: Command = async ({ argv, stderr, clock, signal, endless, label }) => {
  let ms = 0;
  for (const word of argv.slice(1)) {
    const duration = durationOf(word);
    if (duration === undefined) {
      stderr(`sleep: invalid number '${word}'\n`);
      return 1;
    }
    ms += duration;
  }
  await wait(clock, ms, { signal, background: endless, label: `sleep: ${label}` });
  return 0;
};

/** `sh -c SCRIPT [NAME [ARGS]]`, `sh FILE [ARGS]`, or a script on its input. */
const sh: Command = async (process) => {
  const words = process.argv.slice(1);
  const options: string[] = [];
  let isScript = false;
  while (/^[-+][a-z]+$/i.test(words[0] ?? "")) {
    const letters = words.shift()!.slice(1);
    for (const letter of letters) {
      if (letter === "c") isScript = true;
      else if (letter === "o") options.push(words.shift() ?? "");
      else options.push(letter);
    }
  }
  const [first, ...rest] = words;
  const shellName = process.argv[0] ?? "sh";
  const [text, name, parameters] = isScript
    ? [first ?? "", rest[0] ?? shellName, rest.slice(1)]
    : first !== undefined
      ? [readScript(process, first), first, rest]
      : [await inputText(process, LONGEST_SCRIPT), shellName, []];
  if (text === undefined) return 127;
  const shell = new Shell(process, name, parameters);
  for (const option of options) shell.options.add(option);
  return shell.interpret(text);
};

function readScript(process: Process, name: string): string | undefined {
  try {
    return process.files.readText(pathOf(process, name));
  } catch (error) {
    process.stderr(`sh: can't open '${name}': ${error instanceof Error ? error.message : String(error)}\n`);
    return undefined;
  }
}

/** More than this of a script is not read: it would be refused. */
const LONGEST_SCRIPT = 256 * 1024;

async function inputText(process: Process, longest: number): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of new InputFiles(process, []).pieces()) {
    length += piece.length;
    process.memory.hold(piece.length);
    pieces.push(piece);
    if (length > longest) break;
  }
  return Buffer.concat(pieces).toString("utf8");
}

const env: Command = async (process) => {
  const words = process.argv.slice(1);
  const given: Record<string, string> = words[0] === "-i" ? {} : { ...process.env };
  if (words[0] === "-i") words.shift();
  while (words[0]?.includes("=")) {
    const [name = "", ...value] = words.shift()!.split("=");
    given[name] = value.join("=");
  }
  if (words.length > 0) return process.run(words, { env: given });
  for (const [name, value] of Object.entries(given)) process.stdout(`${name}=${value}\n`);
  return 0;
};

const printenv: Command = async (process) => {
  const [, ...names] = process.argv;
  if (names.length === 0) return env(process);
  const values = names.map((name) => process.env[name]);
  for (const value of values) if (value !== undefined) process.stdout(`${value}\n`);
  return values.includes(undefined) ? 1 : 0;
};

const id: Command = async ({ argv, user, files, stdout }) => {
  const { flags } = argumentsOf(argv.slice(1));
  const { uid, gid, groups } = user;
  const all = [...new Set([gid, ...groups])];
  if (flags.has("u")) stdout(`${flags.has("n") ? nameOf(files, uid) : uid}\n`);
  else if (flags.has("g")) stdout(`${gid}\n`);
  else if (flags.has("G")) stdout(`${all.join(" ")}\n`);
  else {
    const named = (number: number) => (number === 0 ? "0(root)" : String(number));
    stdout(`uid=${named(uid)} gid=${named(gid)} groups=${all.map(named).join(",")}\n`);
  }
  return 0;
};

function nameOf(files: Process["files"], uid: number): string {
  const line = files.exists("/etc/passwd")
    ? files
        .readText("/etc/passwd")
        .split("\n")
        .find((one) => one.split(":")[2] === String(uid))
    : undefined;
  return line?.split(":")[0] ?? String(uid);
}

const whoami: Command = async ({ user, files, stdout, stderr }) => {
  const name = nameOf(files, user.uid);
  if (/^\d+$/.test(name)) {
    stderr(`whoami: unknown uid ${user.uid}\n`);
    return 1;
  }
  stdout(`${name}\n`);
  return 0;
};

const hostname: Command = async ({ argv, network, stdout }) => {
  const { flags } = argumentsOf(argv.slice(1));
  if (flags.has("i") || flags.has("I")) stdout(`${network.address}\n`);
  else stdout(`${flags.has("f") ? network.fullName : network.hostName}\n`);
  return 0;
};

const date: Command = async ({ argv, clock, stdout }) => {
  const format = argv.find((word) => word.startsWith("+"))?.slice(1) ?? "%a %b %e %H:%M:%S UTC %Y";
  stdout(`${strftime(format, clock.now())}\n`);
  return 0;
};

const timeout: Command = async (process) => {
  const words = process.argv.slice(1).filter((word) => !/^-[ts]?$/.test(word));
  const [seconds = "", ...argv] = words;
  const ms = durationOf(seconds);
  if (ms === undefined) {
    process.stderr(`timeout: invalid time interval '${seconds}'\n`);
    return 125;
  }
  const over = new AbortController();
  const end = process.clock.after(ms, () => over.abort(), { label: process.label });
  try {
    const status = await process.run(argv, { signal: over.signal });
    return over.signal.aborted ? 143 : status;
  } finally {
    end.cancel();
  }
};

const uname: Command = async ({ argv, network, stdout }) => {
  const { flags } = argumentsOf(argv.slice(1));
  const all = ["Linux", network.hostName, "6.1.0-konverge", "#1 SMP", "x86_64"];
  if (flags.has("a")) stdout(`${all.join(" ")}\n`);
  else stdout(`${flags.has("r") ? all[2] : flags.has("n") ? all[1] : flags.has("m") ? all[4] : all[0]}\n`);
  return 0;
};

const which: Command = async (process) => {
  const paths = process.argv.slice(1).map((name) => process.find(name));
  for (const path of paths) if (path !== undefined) process.stdout(`${path}\n`);
  return paths.includes(undefined) ? 1 : 0;
};

const expr: Command = async ({ argv, stdout }) => {
  const [left = "0", operator, right = "0"] = argv.slice(1);
  const [a, b] = [Number(left), Number(right)];
  const results: Record<string, () => number | boolean | string> = {
    "+": () => a + b,
    "-": () => a - b,
    "*": () => a * b,
    "/": () => Math.trunc(a / b),
    "%": () => a % b,
    "=": () => left === right,
    "!=": () => left !== right,
    "<": () => a < b,
    ">": () => a > b,
  };
  const value = operator === undefined ? left : results[operator]?.();
  if (value === undefined) return 2;
  const text = typeof value === "boolean" ? String(Number(value)) : String(value);
  stdout(`${text}\n`);
  return text === "0" || text === "" ? 1 : 0;
};

const sysctl: Command = async (process) => {
  const { flags, operands } = argumentsOf(process.argv.slice(1));
  for (const name of operands) {
    const path = `/proc/sys/${name.replaceAll(".", "/")}`;
    if (!process.files.exists(path)) {
      process.stderr(`sysctl: error: '${name}' is an unknown key\n`);
      return 1;
    }
    const value = process.files.readText(path).trim();
    process.stdout(flags.has("n") ? `${value}\n` : `${name} = ${value}\n`);
  }
  return 0;
};

/** What `xargs` hands to one command, in characters. */
const LONGEST_LIST = 128 * 1024;

const xargs: Command = async (process) => {
  const { flags } = argumentsOf(process.argv.slice(1, 3), ["n", "I"]);
  const words = process.argv.slice(1);
  while (words[0]?.startsWith("-")) words.splice(0, flags.size > 0 ? 2 : 1);
  const command = words.length > 0 ? words : ["echo"];
  let [given, length, status]: [string[], number, number] = [[], 0, 0];
  const run = async () => {
    status = (await process.run([...command, ...given])) || status;
    [given, length] = [[], 0];
  };
  for await (const line of new InputFiles(process, []).lines()) {
    for (const { 0: word } of line.matchAll(/\S+/g)) {
      if (length > 0 && length + word.length > LONGEST_LIST) await run();
      process.memory.checkText(word.length);
      given.push(word);
      length += word.length + 1;
    }
  }
  await run();
  return status;
};

/** Commands about the container itself. */
export const SYSTEM: Readonly<Record<string, Command>> = {
  true: async () => 0,
  false: async () => 1,
  sleep,
  sh,
  ash: sh,
  bash: sh,
  dash: sh,
  env,
  printenv,
  id,
  whoami,
  hostname,
  date,
  timeout,
  uname,
  which,
  expr,
  sysctl,
  xargs,
  nproc: async ({ stdout }) => {
    stdout("1\n");
    return 0;
  },
  ps: async ({ container, stdout }) => {
    const command = [...(container.command ?? []), ...(container.args ?? [])].join(" ") || (container.image ?? "");
    stdout(`PID   USER     TIME  COMMAND\n    1 root      0:00 ${command}\n`);
    return 0;
  },
};
