import { Expression } from "../expressions/expression.ts";
import { ExpressionError } from "../expressions/posix-syntax.ts";
import type { Command } from "../process.ts";
import { argumentsOf } from "./arguments.ts";
import { InputFiles } from "./input-files.ts";

const FAILED = 2;

/** `grep` with the flags -c, -e, -E, -F, -i, -m, -o, -q, -s, -v, -w and -x. */
export const grep: Command = async (process) => {
  const { flags, operands } = argumentsOf(process.argv.slice(1), ["e", "m", "A", "B", "C"]);
  const given = flags.get("e");
  const [first = "", ...rest] = operands;
  const [source, names] = given === undefined ? [first, rest] : [given, operands];
  const isInverted = flags.has("v");
  const most = Number(flags.get("m") ?? Number.POSITIVE_INFINITY);
  const isQuiet = flags.has("q") || flags.has("c");
  const input = new InputFiles(process, names);
  let found = 0;
  try {
    const expression = await Expression.compile(
      source,
      {
        extended: flags.has("E"),
        fixed: flags.has("F"),
        ignoreCase: flags.has("i"),
        ...(flags.has("x") ? { whole: "line" } : flags.has("w") && { whole: "word" }),
      },
      process,
    );
    for await (const line of most > 0 ? input.lines() : []) {
      if ((await expression.test(line, process)) === isInverted) continue;
      found++;
      if (!isQuiet && !flags.has("o")) await process.stdout(`${line}\n`);
      else if (!isQuiet)
        for await (const { groups, start, end } of expression.matches(line, process))
          if (end > start) await process.stdout(`${groups[0]}\n`);
      if (found >= most || (flags.has("q") && !flags.has("c"))) break;
    }
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    process.stderr(`grep: ${error.message}\n`);
    return FAILED;
  }
  if (input.status !== 0 && !flags.has("s")) return FAILED;
  if (flags.has("c")) await process.stdout(`${found}\n`);
  return found > 0 ? 0 : 1;
};
