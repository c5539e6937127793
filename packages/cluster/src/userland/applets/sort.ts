import type { Command } from "../process.ts";
import { sorted } from "../sorting.ts";
import { argumentsOf } from "./arguments.ts";
import { InputFiles } from "./input-files.ts";

/** What a line takes besides its characters. */
const LINE_SIZE = 96;

/** `sort` with the flags -n, -r and -u. */
export const sort: Command = async (process) => {
  const { flags, operands } = argumentsOf(process.argv.slice(1), ["k", "t"]);
  const input = new InputFiles(process, operands);
  const lines: string[] = [];
  for await (const line of input.lines()) {
    process.memory.hold(line.length + LINE_SIZE);
    lines.push(line);
  }
  const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  const byNumber = (a: string, b: string) => Number.parseFloat(a) - Number.parseFloat(b) || 0;
  const compare = flags.has("n") ? byNumber : byText;
  const order = await sorted(lines, flags.has("r") ? (a, b) => compare(b, a) : compare, process);
  const written = flags.has("u") ? new Set<string>() : undefined;
  for (const line of order) {
    await process.spend(1);
    if (written?.has(line)) continue;
    written?.add(line);
    await process.stdout(`${line}\n`);
  }
  return input.status;
};
