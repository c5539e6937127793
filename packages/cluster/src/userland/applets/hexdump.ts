import type { Command } from "../process.ts";
import { argumentsOf } from "./arguments.ts";
import { forEach } from "./failing.ts";

const WIDTH = 16;

/** `hexdump -C`: bytes beside the characters they are. */
export const hexdump: Command = async (process) => {
  const { operands } = argumentsOf(process.argv.slice(1));
  return forEach(process, operands, (path) => {
    const data = process.files.read(path);
    let text = "";
    for (let at = 0; at < data.length; at += WIDTH) {
      const row = [...data.subarray(at, at + WIDTH)];
      const hex = row.map((byte) => byte.toString(16).padStart(2, "0"));
      const left = hex.slice(0, WIDTH / 2).join(" ");
      const right = hex.slice(WIDTH / 2).join(" ");
      const shown = row.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".")).join("");
      text += `${offset(at)}  ${left.padEnd(23)}  ${right.padEnd(23)}  |${shown}|\n`;
    }
    process.stdout(`${text}${offset(data.length)}\n`);
  });
};

function offset(at: number): string {
  return at.toString(16).padStart(8, "0");
}
