import type { Command } from "../process.ts";
import { argumentsOf } from "./arguments.ts";
import { forEach, inputOf, linesOf } from "./failing.ts";

type Edit = (line: string, number: number, print: (text: string) => void) => string | undefined;

/** `sed` with the commands `s`, `p`, `d` and `q` for lines chosen by number or pattern. */
export const sed: Command = async (process) => {
  const { flags, operands } = argumentsOf(process.argv.slice(1), ["e"]);
  const script = flags.get("e") ?? operands[0] ?? "";
  const names = flags.has("e") ? operands : operands.slice(1);
  const edit = editOf(script, flags.has("E") || flags.has("r"));
  if (!edit) {
    process.stderr(`sed: unsupported command: ${script}\n`);
    return 1;
  }
  const edited = (text: string) => {
    let result = "";
    const print = (line: string) => {
      result += `${line}\n`;
    };
    for (const [index, line] of linesOf(text).entries()) {
      const changed = edit(line, index + 1, print);
      if (changed !== undefined && !flags.has("n")) print(changed);
    }
    return result;
  };
  if (flags.has("i"))
    return forEach(process, names, (path) => process.files.write(path, edited(process.files.readText(path))));
  const { text, status } = await inputOf(process, names);
  process.stdout(edited(text));
  return status;
};

function editOf(script: string, isExtended: boolean): Edit | undefined {
  const edits: Edit[] = [];
  for (const command of script.split(/;(?![^/]*\/[a-z]*$)/)) {
    const edit = oneEdit(command.trim(), isExtended);
    if (!edit) return undefined;
    edits.push(edit);
  }
  return (line, number, print) => {
    let now: string | undefined = line;
    for (const edit of edits) if (now !== undefined) now = edit(now, number, print);
    return now;
  };
}

function oneEdit(command: string, isExtended: boolean): Edit | undefined {
  const [, first, last, address, verb = ""] =
    /^(?:(\d+)(?:,(\d+|\$))?|\/((?:[^/\\]|\\.)*)\/)?\s*(.*)$/.exec(command) ?? [];
  const pattern = address === undefined ? undefined : new RegExp(expression(address, isExtended));
  const isChosen = (line: string, number: number) => {
    if (pattern) return pattern.test(line);
    if (first === undefined) return true;
    return number >= Number(first) && number <= (last === "$" ? Number.POSITIVE_INFINITY : Number(last ?? first));
  };
  if (verb === "d") return (line, number) => (isChosen(line, number) ? undefined : line);
  if (verb === "p") {
    return (line, number, print) => {
      if (isChosen(line, number)) print(line);
      return line;
    };
  }
  const [, , from, to = "", options = ""] =
    /^s([^\w\s])((?:(?!\1)[^\\]|\\.)*)\1((?:(?!\1)[^\\]|\\.)*)\1([gIip]*)$/.exec(verb) ?? [];
  if (from === undefined) return undefined;
  const searched = new RegExp(
    expression(from, isExtended),
    (options.includes("g") ? "g" : "") + (/i/i.test(options) ? "i" : ""),
  );
  const replacement = to
    .replaceAll("$", "$$$$")
    .replaceAll(/\\?&/g, (found) => (found === "&" ? "$&" : "&"))
    .replaceAll(/\\(\d)/g, "$$$1")
    .replaceAll("\\n", "\n")
    .replaceAll(/\\(.)/g, "$1");
  return (line, number, print) => {
    if (!isChosen(line, number)) return line;
    const changed = line.replace(searched, replacement);
    if (options.includes("p") && changed !== line) print(changed);
    return changed;
  };
}

function expression(source: string, isExtended: boolean): string {
  if (isExtended) return source;
  return source.replaceAll(/\\?[(){}|+?]/g, (found) => (found.startsWith("\\") ? found.slice(1) : `\\${found}`));
}
