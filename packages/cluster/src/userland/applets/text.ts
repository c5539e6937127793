import { createHash } from "node:crypto";
import type { Command } from "../process.ts";
import { argumentsOf } from "./arguments.ts";
import { awk } from "./awk.ts";
import { base64 } from "./base64.ts";
import { cut } from "./cut.ts";
import { forEach } from "./failing.ts";
import { grep } from "./grep.ts";
import { head, tail } from "./head-tail.ts";
import { hexdump } from "./hexdump.ts";
import { InputFiles } from "./input-files.ts";
import { formatted, unescaped } from "./printf.ts";
import { sed } from "./sed.ts";
import { sort } from "./sort.ts";
import { tr } from "./tr.ts";

/** Output is collected to this many characters before it is written. */
const BLOCK = 8 * 1024;

const echo: Command = async ({ argv, stdout }) => {
  let first = 1;
  let [newline, escapes] = [true, false];
  for (; /^-[neE]+$/.test(argv[first] ?? ""); first++) {
    if (argv[first]!.includes("n")) newline = false;
    if (argv[first]!.includes("e")) escapes = true;
  }
  const text = argv.slice(first).join(" ");
  await stdout((escapes ? unescaped(text) : text) + (newline ? "\n" : ""));
  return 0;
};

const printf: Command = async (process) => {
  let [text, count] = ["", 0];
  for (const { text: part, width, fill, isLeft } of formatted(process.argv[1] ?? "", process.argv.slice(2))) {
    if (++count % 64 === 0) await process.spend(16);
    process.memory.checkText(Math.max(part.length, width));
    text += isLeft ? part.padEnd(width, fill === "0" ? " " : fill) : part.padStart(width, fill);
    if (text.length < BLOCK) continue;
    await process.spend(1 + text.length / BLOCK);
    await process.stdout(text);
    text = "";
  }
  await process.stdout(text);
  return 0;
};

const cat: Command = async (process) => {
  const input = new InputFiles(process, argumentsOf(process.argv.slice(1)).operands);
  for await (const piece of input.pieces()) await process.stdout(piece);
  return input.status;
};

const uniq: Command = async (process) => {
  const { flags, operands } = argumentsOf(process.argv.slice(1));
  const input = new InputFiles(process, operands);
  let [last, count]: [string | undefined, number] = [undefined, 0];
  const write = () =>
    last === undefined
      ? undefined
      : process.stdout(flags.has("c") ? `${String(count).padStart(7)} ${last}\n` : `${last}\n`);
  for await (const line of input.lines()) {
    if (line === last) count++;
    else {
      await write();
      [last, count] = [line, 1];
    }
  }
  await write();
  return input.status;
};

const wc: Command = async (process) => {
  const { flags, operands } = argumentsOf(process.argv.slice(1));
  const input = new InputFiles(process, operands);
  const counts = { l: 0, w: 0, c: 0 };
  let isInWord = false;
  for await (const piece of input.pieces()) {
    counts.c += piece.length;
    await process.spend(piece.length / 1024);
    for (const byte of piece) {
      if (byte === 0x0a) counts.l++;
      const isBlank = byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
      if (!isBlank && !isInWord) counts.w++;
      isInWord = !isBlank;
    }
  }
  const shown = (["l", "w", "c"] as const).filter((flag) => flags.size === 0 || flags.has(flag));
  const name = operands.length === 1 ? ` ${operands[0]}` : "";
  await process.stdout(`${shown.map((flag) => String(counts[flag])).join(" ")}${name}\n`);
  return input.status;
};

const tee: Command = async (process) => {
  const { flags, operands } = argumentsOf(process.argv.slice(1));
  const written: string[] = [];
  const status = await forEach(process, operands, (path) => {
    process.files.write(path, "", { append: flags.has("a") });
    written.push(path);
  });
  for await (const piece of new InputFiles(process, []).pieces()) {
    await process.stdout(piece);
    for (const path of written) process.files.write(path, piece, { append: true });
  }
  return status;
};

function digest(algorithm: string): Command {
  return async (process) => {
    const { operands } = argumentsOf(process.argv.slice(1));
    let status = 0;
    for (const name of operands.length === 0 ? ["-"] : operands) {
      const input = new InputFiles(process, [name]);
      const hash = createHash(algorithm);
      for await (const piece of input.pieces()) hash.update(piece);
      if (input.status === 0) await process.stdout(`${hash.digest("hex")}  ${name}\n`);
      status ||= input.status;
    }
    return status;
  };
}

const seq: Command = async (process) => {
  const numbers = process.argv.slice(1).map(Number);
  const [first, step, last] = [
    numbers.length > 1 ? numbers[0]! : 1,
    numbers.length > 2 ? numbers[1]! : 1,
    numbers.at(-1) ?? 0,
  ];
  if (step === 0) {
    process.stderr("seq: invalid Zero increment value: '0'\n");
    return 1;
  }
  let text = "";
  for (let value = first; step > 0 ? value <= last : value >= last; value += step) {
    text += `${value}\n`;
    if (text.length < BLOCK) continue;
    await process.spend(BLOCK / 64);
    await process.stdout(text);
    text = "";
  }
  await process.stdout(text);
  return 0;
};

/** Writes a line until nothing reads it any more. */
const yes: Command = async (process) => {
  const line = `${process.argv.slice(1).join(" ") || "y"}\n`;
  const block = line.repeat(Math.max(1, Math.floor(BLOCK / line.length)));
  for (;;) {
    await process.spend(1 + block.length / 1024);
    await process.stdout(block);
  }
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
  yes,
  hexdump,
  base64,
  md5sum: digest("md5"),
  sha1sum: digest("sha1"),
  sha256sum: digest("sha256"),
};
