import { Expression } from "../expressions/expression.ts";
import { ExpressionError } from "../expressions/posix-syntax.ts";
import type { Command, Process } from "../process.ts";
import { argumentsOf } from "./arguments.ts";
import { InputFiles } from "./input-files.ts";
import { unescaped } from "./printf.ts";

/** What is printed of a line: a text, a field (0 is the whole line), or the number of its fields or its own. */
type Term = { readonly text: string } | { readonly field: number | "NF" } | { readonly count: "NF" | "NR" };

/** The longest program, and the longest line that is split into fields, in characters. */
const LONGEST_PROGRAM = 8 * 1024;
const LONGEST_SPLIT = 1024 * 1024;

/** `awk` for what scripts mostly use it for: `[/PATTERN/] {print FIELDS}`. Anything else is refused, not guessed. */
export const awk: Command = async (process) => {
  const { flags, operands } = argumentsOf(process.argv.slice(1), ["F", "v"]);
  const [program = "", ...names] = operands;
  const { pattern, print } = (program.length > LONGEST_PROGRAM ? undefined : partsOf(program.trim())) ?? {};
  if (pattern === undefined && print === undefined) {
    process.stderr(`awk: this program is more than a simulated container understands: ${program}\n`);
    return 2;
  }
  const input = new InputFiles(process, names);
  const separator = flags.get("F");
  const terms = print === undefined ? undefined : termsOf(print);
  try {
    const chosen =
      pattern === undefined
        ? undefined
        : await Expression.compile(pattern, { extended: true, escapesInSets: true }, process);
    let number = 0;
    for await (const line of input.lines()) {
      number++;
      if (chosen && !(await chosen.test(line, process))) continue;
      if (!terms) {
        await process.stdout(`${line}\n`);
        continue;
      }
      if (line.length > LONGEST_SPLIT) throw new Error("line is too long");
      const fields = separator === undefined ? line.trim().split(/\s+/) : line.split(separator);
      await process.spend(fields.length / 16);
      await printed(process, terms, line, fields, number);
    }
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    process.stderr(`awk: ${error.message}\n`);
    return 2;
  }
  return input.status;
};

/** `/PATTERN/ {print FIELDS}`, either of which may be missing. */
function partsOf(program: string): { pattern?: string; print?: string } | undefined {
  const [whole = "", pattern] = /^\/((?:[^/\\]|\\.)*)\//.exec(program) ?? [];
  const action = program.slice(whole.length).trim();
  if (action === "") return pattern === undefined ? undefined : { pattern };
  if (!action.startsWith("{") || !action.endsWith("}")) return undefined;
  const statement = action.slice(1, -1).trim();
  const only = statement.endsWith(";") ? statement.slice(0, -1).trimEnd() : statement;
  if (!only.startsWith("print")) return undefined;
  return { ...(pattern !== undefined && { pattern }), print: only.slice("print".length).trim() };
}

function termsOf(print: string): Term[] {
  if (print === "") return [{ field: 0 }];
  const terms = print.matchAll(/"((?:[^"\\]|\\.)*)"|\$(NF|\d+)|NF|NR|,/g);
  return Array.from(terms, ([whole, quoted, field]): Term => {
    if (whole === ",") return { text: " " };
    if (quoted !== undefined) return { text: unescaped(quoted) };
    if (field !== undefined) return { field: field === "NF" ? field : Number(field) };
    return { count: whole as "NF" | "NR" };
  });
}

async function printed(
  process: Process,
  terms: readonly Term[],
  line: string,
  fields: readonly string[],
  number: number,
): Promise<void> {
  let text = "";
  for (const term of terms) {
    if ("text" in term) text += term.text;
    else if ("count" in term) text += term.count === "NF" ? fields.length : number;
    else if (term.field === 0) text += line;
    else text += fields[term.field === "NF" ? fields.length - 1 : term.field - 1] ?? "";
    process.memory.checkText(text.length);
  }
  await process.stdout(`${text}\n`);
}
