import { createHash } from "node:crypto";
import { sleep } from "@konverge/core";
import { allOf, type Command, type Process } from "../process.ts";
import { argumentsOf } from "./arguments.ts";
import { awk } from "./awk.ts";
import { forEach, inputOf, linesOf, pathOf } from "./failing.ts";
import { hexdump } from "./hexdump.ts";
import { formatted, unescaped } from "./printf.ts";
import { sed } from "./sed.ts";

/** How often `tail -f` looks, in milliseconds. */
const LOOK_AGAIN = 1000;

const echo: Command = async ({ argv, stdout }) => {
  let words = argv.slice(1);
  let [newline, escapes] = [true, false];
  while (/^-[neE]+$/.test(words[0] ?? "")) {
    if (words[0]!.includes("n")) newline = false;
    if (words[0]!.includes("e")) escapes = true;
    words = words.slice(1);
  }
  const text = words.join(" ");
  stdout((escapes ? unescaped(text) : text) + (newline ? "\n" : ""));
  return 0;
};

const cat: Command = async (process) => {
  const { operands } = argumentsOf(process.argv.slice(1));
  return forEach(process, operands.length === 0 ? ["-"] : operands, async (path, name) => {
    if (name !== "-" && path !== "/dev/stdin") return process.stdout(process.files.read(path));
    for await (const chunk of process.stdin) process.stdout(chunk);
  });
};

function countOf(words: readonly string[]): { count: string; follow: boolean; bytes: boolean; names: string[] } {
  const { flags, operands } = argumentsOf(
    words.map((word) => (/^-\d+$/.test(word) ? `-n${word.slice(1)}` : word)),
    ["n", "c", "lines", "bytes"],
  );
  const bytes = flags.get("c") ?? flags.get("bytes");
  const count = bytes ?? flags.get("n") ?? flags.get("lines") ?? "10";
  return { count, bytes: bytes !== undefined, follow: flags.has("f") || flags.has("F"), names: [...operands] };
}

const head: Command = async (process) => {
  const { count, bytes, names } = countOf(process.argv.slice(1));
  const { text, status } = await inputOf(process, names);
  if (bytes) process.stdout(Buffer.from(text).subarray(0, Number(count)));
  else for (const line of linesOf(text).slice(0, Number(count))) process.stdout(`${line}\n`);
  return status;
};

const tail: Command = async (process) => {
  const { count, bytes, follow, names } = countOf(process.argv.slice(1));
  const { text, status } = await inputOf(process, names);
  const wanted = Number(count.replace(/^[-+]/, ""));
  if (bytes) process.stdout(Buffer.from(text).subarray(-wanted));
  else {
    const lines = linesOf(text);
    for (const line of count.startsWith("+") ? lines.slice(wanted - 1) : lines.slice(-wanted || lines.length))
      process.stdout(`${line}\n`);
  }
  const [name] = names;
  if (!follow || name === undefined || status !== 0) return status;
  return followFile(process, pathOf(process, name));
};

async function followFile(process: Process, path: string): Promise<number> {
  const { files, clock, signal, label, stdout } = process;
  for (let shown = files.read(path).length; ; ) {
    await sleep(clock, LOOK_AGAIN, { signal, background: true, label });
    const now = files.exists(path) ? files.read(path) : new Uint8Array();
    if (now.length > shown) stdout(now.subarray(shown));
    shown = now.length;
  }
}

const grep: Command = async (process) => {
  const { flags, operands } = argumentsOf(process.argv.slice(1), ["e", "m", "A", "B", "C"]);
  const given = flags.get("e");
  const [first = "", ...rest] = operands;
  const [source, names] = given === undefined ? [first, rest] : [given, operands];
  const plain = flags.has("F") ? source.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&") : basic(source, flags.has("E"));
  const whole = flags.has("x") ? `^(?:${plain})$` : flags.has("w") ? `\\b(?:${plain})\\b` : plain;
  const pattern = new RegExp(whole, flags.has("i") ? "i" : "");
  const { text, status } = await inputOf(process, names);
  const found = linesOf(text).filter((line) => pattern.test(line) !== flags.has("v"));
  if (status !== 0 && !flags.has("s")) return 2;
  if (flags.has("c")) process.stdout(`${found.length}\n`);
  else if (!flags.has("q")) {
    for (const line of found.slice(0, Number(flags.get("m") ?? found.length)))
      process.stdout(`${flags.has("o") ? (pattern.exec(line)?.[0] ?? "") : line}\n`);
  }
  return found.length > 0 ? 0 : 1;
};

/** In basic expressions groups and counts are what is escaped. */
function basic(source: string, isExtended: boolean): string {
  const classes = source
    .replaceAll("[[:space:]]", "\\s")
    .replaceAll("[[:digit:]]", "\\d")
    .replaceAll("[:alnum:]", "A-Za-z0-9")
    .replaceAll("[:alpha:]", "A-Za-z");
  if (isExtended) return classes;
  return classes.replaceAll(/\\?[(){}|+?]/g, (found) => (found.startsWith("\\") ? found.slice(1) : `\\${found}`));
}

const sort: Command = async (process) => {
  const { flags, operands } = argumentsOf(process.argv.slice(1), ["k", "t"]);
  const { text, status } = await inputOf(process, operands);
  const compare = (a: string, b: string) =>
    flags.has("n") ? Number.parseFloat(a) - Number.parseFloat(b) || 0 : a < b ? -1 : a > b ? 1 : 0;
  let lines = linesOf(text).sort(compare);
  if (flags.has("r")) lines.reverse();
  if (flags.has("u")) lines = [...new Set(lines)];
  for (const line of lines) process.stdout(`${line}\n`);
  return status;
};

const uniq: Command = async (process) => {
  const { flags, operands } = argumentsOf(process.argv.slice(1));
  const { text, status } = await inputOf(process, operands);
  const runs: { line: string; count: number }[] = [];
  for (const line of linesOf(text)) {
    const last = runs.at(-1);
    if (last?.line === line) last.count++;
    else runs.push({ line, count: 1 });
  }
  for (const { line, count } of runs)
    process.stdout(flags.has("c") ? `${String(count).padStart(7)} ${line}\n` : `${line}\n`);
  return status;
};

const wc: Command = async (process) => {
  const { flags, operands } = argumentsOf(process.argv.slice(1));
  const { text, status } = await inputOf(process, operands);
  const counts = { l: text.split("\n").length - 1, w: (text.match(/\S+/g) ?? []).length, c: Buffer.byteLength(text) };
  const shown = (["l", "w", "c"] as const).filter((flag) => flags.size === 0 || flags.has(flag));
  const name = operands.length === 1 ? ` ${operands[0]}` : "";
  process.stdout(`${shown.map((flag) => String(counts[flag])).join(" ")}${name}\n`);
  return status;
};

const cut: Command = async (process) => {
  const { flags, operands } = argumentsOf(process.argv.slice(1), ["d", "f", "c"]);
  const { text, status } = await inputOf(process, operands);
  const delimiter = flags.get("d") ?? "\t";
  const ranges = (flags.get("f") ?? flags.get("c") ?? "1-").split(",").map((range) => {
    const [, from = "", dash, to = ""] = /^(\d*)(-?)(\d*)$/.exec(range) ?? [];
    return [Number(from || 1), dash ? Number(to || Number.POSITIVE_INFINITY) : Number(from)] as const;
  });
  const isWanted = (index: number) => ranges.some(([from, to]) => index + 1 >= from && index + 1 <= to);
  for (const line of linesOf(text)) {
    const parts = flags.has("c") ? [...line] : line.split(delimiter);
    const kept = parts.length === 1 && !flags.has("c") ? parts : parts.filter((_, index) => isWanted(index));
    process.stdout(`${kept.join(flags.has("c") ? "" : delimiter)}\n`);
  }
  return status;
};

const tr: Command = async (process) => {
  const { flags, operands } = argumentsOf(process.argv.slice(1));
  const [from = [], to = []] = operands.map(characters);
  const text = (await allOf(process.stdin)).toString("utf8");
  const mapped = [...text].flatMap((char) => {
    const at = from.indexOf(char);
    if (at < 0) return [char];
    return flags.has("d") ? [] : [to[Math.min(at, to.length - 1)] ?? char];
  });
  process.stdout(mapped.join(""));
  return 0;
};

function characters(set: string): string[] {
  const plain = unescaped(set)
    .replaceAll("[:upper:]", "A-Z")
    .replaceAll("[:lower:]", "a-z")
    .replaceAll("[:digit:]", "0-9");
  return [
    ...plain.replaceAll(/(.)-(.)/g, (_, from: string, to: string) => {
      let all = "";
      for (let code = from.charCodeAt(0); code <= to.charCodeAt(0); code++) all += String.fromCharCode(code);
      return all;
    }),
  ];
}

const tee: Command = async (process) => {
  const { flags, operands } = argumentsOf(process.argv.slice(1));
  const data = await allOf(process.stdin);
  process.stdout(data);
  return forEach(process, operands, (path) => process.files.write(path, data, { append: flags.has("a") }));
};

const base64: Command = async (process) => {
  const { flags, operands } = argumentsOf(process.argv.slice(1), ["w"]);
  const { text, status } = await inputOf(process, operands);
  if (flags.has("d")) process.stdout(Buffer.from(text, "base64"));
  else process.stdout(`${Buffer.from(text).toString("base64")}\n`);
  return status;
};

function digest(algorithm: string): Command {
  return async (process) => {
    const { operands } = argumentsOf(process.argv.slice(1));
    const names = operands.length === 0 ? ["-"] : operands;
    return forEach(process, names, async (path, name) => {
      const data = name === "-" ? await allOf(process.stdin) : process.files.read(path);
      process.stdout(`${createHash(algorithm).update(data).digest("hex")}  ${name}\n`);
    });
  };
}

const seq: Command = async ({ argv, stdout }) => {
  const numbers = argv.slice(1).map(Number);
  const [first, step, last] = [
    numbers.length > 1 ? numbers[0]! : 1,
    numbers.length > 2 ? numbers[1]! : 1,
    numbers.at(-1) ?? 0,
  ];
  let text = "";
  for (let value = first; step > 0 ? value <= last : value >= last; value += step) text += `${value}\n`;
  stdout(text);
  return 0;
};

const printf: Command = async ({ argv, stdout }) => {
  stdout(formatted(argv[1] ?? "", argv.slice(2)));
  return 0;
};

/** Commands that read and write text. */
export const TEXT: Readonly<Record<string, Command>> = {
  echo,
  printf,
  cat,
  head,
  tail,
  grep,
  egrep: (process) => grep({ ...process, argv: ["grep", "-E", ...process.argv.slice(1)] }),
  sort,
  uniq,
  wc,
  cut,
  tr,
  tee,
  sed,
  awk,
  seq,
  hexdump,
  base64,
  md5sum: digest("md5"),
  sha1sum: digest("sha1"),
  sha256sum: digest("sha256"),
};
