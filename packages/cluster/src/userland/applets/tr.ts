import { StringDecoder } from "node:string_decoder";
import type { Command } from "../process.ts";
import { argumentsOf } from "./arguments.ts";
import { InputFiles } from "./input-files.ts";
import { unescaped } from "./printf.ts";

/** Characters of a set, written out. */
const LARGEST_SET = 128 * 1024;
const CLASSES: Readonly<Record<string, string>> = {
  "[:upper:]": "A-Z",
  "[:lower:]": "a-z",
  "[:digit:]": "0-9",
  "[:alpha:]": "A-Za-z",
  "[:alnum:]": "A-Za-z0-9",
  "[:space:]": " \t\n\v\f\r",
};

/** `tr` with the flags -c, -d and -s. */
export const tr: Command = async (process) => {
  const { flags, operands } = argumentsOf(process.argv.slice(1));
  const [first = [], second = []] = operands.map(charactersOf);
  const places = new Map<string, number>();
  for (const [index, char] of first.entries()) if (!places.has(char)) places.set(char, index);
  const isComplement = flags.has("c") || flags.has("C");
  const isDeleting = flags.has("d");
  const squeezed = flags.has("s") ? new Set(second.length > 0 ? second : first) : undefined;
  const decoder = new StringDecoder("utf8");
  let last = "";
  const translated = (text: string) => {
    let result = "";
    for (const char of text) {
      const place = places.get(char);
      const isMeant = (place !== undefined) !== isComplement;
      if (isMeant && isDeleting) continue;
      const becomes = isMeant ? (second[Math.min(place ?? second.length, second.length - 1)] ?? char) : char;
      if (becomes === last && squeezed?.has(becomes)) continue;
      last = becomes;
      result += becomes;
    }
    return result;
  };
  for await (const piece of new InputFiles(process, []).pieces()) {
    await process.spend(piece.length / 64);
    await process.stdout(translated(decoder.write(piece as Buffer)));
  }
  await process.stdout(translated(decoder.end()));
  return 0;
};

function charactersOf(set: string): string[] {
  let plain = unescaped(set);
  for (const [name, range] of Object.entries(CLASSES)) plain = plain.replaceAll(name, range);
  const all: string[] = [];
  const given = [...plain];
  for (let at = 0; at < given.length; at++) {
    const from = given[at]!;
    const isRange = given[at + 1] === "-" && given[at + 2] !== undefined;
    const end = (isRange ? given[at + 2]! : from).codePointAt(0)!;
    for (let code = from.codePointAt(0)!; code <= end; code++) {
      all.push(String.fromCodePoint(code));
      if (all.length > LARGEST_SET) throw new Error("set is too large");
    }
    if (isRange) at += 2;
  }
  return all;
}
