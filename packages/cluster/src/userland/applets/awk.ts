import type { Command } from "../process.ts";
import { argumentsOf } from "./arguments.ts";
import { inputOf, linesOf } from "./failing.ts";
import { unescaped } from "./printf.ts";

/** `awk` for what scripts mostly use it for: `[/PATTERN/] {print FIELDS}`. Anything else is refused, not guessed. */
export const awk: Command = async (process) => {
  const { flags, operands } = argumentsOf(process.argv.slice(1), ["F", "v"]);
  const [program = "", ...names] = operands;
  const [, pattern, body] =
    /^\s*(?:\/((?:[^/\\]|\\.)*)\/)?\s*(?:\{\s*print\s*(.*?)\s*;?\s*\})?\s*$/s.exec(program) ?? [];
  if (pattern === undefined && body === undefined) {
    process.stderr(`awk: this program is more than a simulated container understands: ${program}\n`);
    return 2;
  }
  const { text, status } = await inputOf(process, names);
  const chosen = pattern === undefined ? undefined : new RegExp(pattern);
  const separator = flags.get("F");
  for (const [index, line] of linesOf(text).entries()) {
    if (chosen && !chosen.test(line)) continue;
    const fields = separator === undefined ? line.trim().split(/\s+/) : line.split(separator);
    process.stdout(`${body ? printed(body, line, fields, index + 1) : line}\n`);
  }
  return status;
};

function printed(body: string, line: string, fields: readonly string[], number: number): string {
  return body
    .split(/\s*,\s*/)
    .map((term) =>
      Array.from(term.matchAll(/"((?:[^"\\]|\\.)*)"|\$(NF|\d+)|NF|NR/g), ([whole, quoted, field]) => {
        if (quoted !== undefined) return unescaped(quoted);
        if (whole === "NF") return String(fields.length);
        if (whole === "NR") return String(number);
        if (field === "0") return line;
        return fields[field === "NF" ? fields.length - 1 : Number(field) - 1] ?? "";
      }).join(""),
    )
    .join(" ");
}
