import type { Command } from "../process.ts";
import { argumentsOf } from "./arguments.ts";
import { InputFiles } from "./input-files.ts";

const WIDTH = 16;

/** `hexdump -C`: bytes beside the characters they are. */
export const hexdump: Command = async (process) => {
  const { operands } = argumentsOf(process.argv.slice(1));
  const input = new InputFiles(process, operands);
  let at = 0;
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of input.pieces()) {
    const bytes = Buffer.concat([rest, piece]);
    let start = 0;
    for (; start + WIDTH <= bytes.length; start += WIDTH, at += WIDTH) {
      await process.spend(1);
      await process.stdout(rowOf(at, bytes.subarray(start, start + WIDTH)));
    }
    rest = bytes.subarray(start);
  }
  if (rest.length > 0) await process.stdout(rowOf(at, rest));
  if (input.status === 0) await process.stdout(`${offset(at + rest.length)}\n`);
  return input.status;
};

function rowOf(at: number, bytes: Uint8Array): string {
  const row = [...bytes];
  const hex = row.map((byte) => byte.toString(16).padStart(2, "0"));
  const left = hex.slice(0, WIDTH / 2).join(" ");
  const right = hex.slice(WIDTH / 2).join(" ");
  const shown = row.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".")).join("");
  return `${offset(at)}  ${left.padEnd(23)}  ${right.padEnd(23)}  |${shown}|\n`;
}

function offset(at: number): string {
  return at.toString(16).padStart(8, "0");
}
