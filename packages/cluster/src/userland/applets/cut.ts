import type { Command } from "../process.ts";
import { argumentsOf } from "./arguments.ts";
import { InputFiles } from "./input-files.ts";

/** The longest line that is cut into pieces, in characters. */
const LONGEST = 1024 * 1024;

/** `cut` by fields or characters. */
export const cut: Command = async (process) => {
  const { flags, operands } = argumentsOf(process.argv.slice(1), ["d", "f", "c"]);
  const input = new InputFiles(process, operands);
  const delimiter = flags.get("d") ?? "\t";
  const ranges = rangesOf(flags.get("f") ?? flags.get("c") ?? "1-");
  for await (const line of input.lines()) {
    if (line.length > LONGEST) throw new Error("line is too long");
    const parts = flags.has("c") ? [...line] : line.split(delimiter);
    await process.spend((parts.length + ranges.length) / 32);
    const kept = parts.length === 1 && !flags.has("c") ? parts : ranges.flatMap(([from, to]) => parts.slice(from, to));
    await process.stdout(`${kept.join(flags.has("c") ? "" : delimiter)}\n`);
  }
  return input.status;
};

/** `1,3-5,7-` as where each range begins and ends, in order and without overlaps. */
function rangesOf(list: string): (readonly [number, number])[] {
  const ranges = list.split(",").map((range) => {
    const [, from = "", dash, to = ""] = /^(\d*)(?:(-)(\d*))?$/.exec(range) ?? [];
    return [Number(from || 1) - 1, dash ? Number(to || Number.POSITIVE_INFINITY) : Number(from)] as const;
  });
  const merged: [number, number][] = [];
  for (const [from, to] of ranges.sort((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return merged;
}
