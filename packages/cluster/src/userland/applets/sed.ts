import { Expression } from "../expressions/expression.ts";
import { ExpressionError } from "../expressions/posix-syntax.ts";
import type { Command, Process } from "../process.ts";
import { argumentsOf } from "./arguments.ts";
import { forEach } from "./failing.ts";
import { InputFiles } from "./input-files.ts";

/** What becomes of a line: undefined when it is deleted. */
type Edit = (line: string, number: number, print: (text: string) => Promise<void>) => Promise<string | undefined>;

/** A part of a replacement: a text, or the number of a group. */
type Replacement = readonly (string | number)[];

const ADDRESS = /(?:(\d+)(?:,(\d+|\$))?|\/((?:[^/\\]|\\.)*)\/)?\s*/y;
const FLAGS = /[gIip]*/y;
const END = /\s*(?:;|\n|$)\s*/y;

/** `sed` with the commands `s`, `p` and `d` for lines chosen by number or pattern. */
export const sed: Command = async (process) => {
  const { flags, operands } = argumentsOf(process.argv.slice(1), ["e"]);
  const script = flags.get("e") ?? operands[0] ?? "";
  const names = flags.has("e") ? operands : operands.slice(1);
  try {
    const edits = await new ScriptReader(script, flags.has("E") || flags.has("r"), process).edits();
    if (!edits) {
      process.stderr(`sed: unsupported command: ${script}\n`);
      return 1;
    }
    const edited = async (input: InputFiles, write: (text: string) => Promise<void>) => {
      let number = 0;
      const print = (text: string) => write(`${text}\n`);
      for await (const line of input.lines()) {
        number++;
        let now: string | undefined = line;
        for (const edit of edits) if (now !== undefined) now = await edit(now, number, print);
        if (now !== undefined && !flags.has("n")) await print(now);
      }
    };
    if (flags.has("i")) return await forEach(process, names, (path, name) => inPlace(process, path, name, edited));
    const input = new InputFiles(process, names);
    await edited(input, async (text) => process.stdout(text));
    return input.status;
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    process.stderr(`sed: ${error.message}\n`);
    return 1;
  }
};

/** Edits a file: what comes of it takes its place at the end. */
async function inPlace(
  process: Process,
  path: string,
  name: string,
  edited: (input: InputFiles, write: (text: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  const held = process.memory.open();
  const pieces: string[] = [];
  try {
    process.files.read(path);
    await edited(new InputFiles(process, [name]), async (text) => {
      held.hold(text.length);
      pieces.push(text);
    });
    process.files.write(path, "");
    for (const piece of pieces) {
      await process.spend(1);
      process.files.write(path, piece, { append: true });
    }
  } finally {
    held.close();
  }
}

/** Reads a script from left to right. */
class ScriptReader {
  readonly #script: string;
  readonly #isExtended: boolean;
  readonly #process: Process;
  #at = 0;

  constructor(script: string, isExtended: boolean, process: Process) {
    this.#script = script.trim();
    this.#isExtended = isExtended;
    this.#process = process;
  }

  /** Undefined when there is something in it that is not known. */
  async edits(): Promise<Edit[] | undefined> {
    const edits: Edit[] = [];
    do {
      const edit = await this.#edit();
      if (!edit || !this.#take(END)) return undefined;
      edits.push(edit);
    } while (this.#at < this.#script.length);
    return edits;
  }

  async #edit(): Promise<Edit | undefined> {
    const [, first, last, address] = this.#take(ADDRESS) ?? [];
    const pattern = address === undefined ? undefined : await this.#compile(address, false);
    const isChosen = async (line: string, number: number) => {
      if (pattern) return pattern.test(line, this.#process);
      if (first === undefined) return true;
      return number >= Number(first) && number <= (last === "$" ? Number.POSITIVE_INFINITY : Number(last ?? first));
    };
    const verb = this.#script[this.#at++];
    if (verb === "d") return async (line, number) => ((await isChosen(line, number)) ? undefined : line);
    if (verb === "p") {
      return async (line, number, print) => {
        if (await isChosen(line, number)) await print(line);
        return line;
      };
    }
    const substitute = verb === "s" ? await this.#substitution() : undefined;
    return (
      substitute &&
      (async (line, number, print) => ((await isChosen(line, number)) ? substitute(line, number, print) : line))
    );
  }

  async #substitution(): Promise<Edit | undefined> {
    const delimiter = this.#script[this.#at++] ?? "";
    if (!/^[^\w\s\\]$/.test(delimiter)) return undefined;
    const from = this.#until(delimiter);
    const to = this.#until(delimiter);
    if (from === undefined || to === undefined) return undefined;
    const [options = ""] = this.#take(FLAGS) ?? [];
    const expression = await this.#compile(from, /i/i.test(options));
    const replacement = replacementOf(to);
    const process = this.#process;
    return async (line, _, print) => {
      const changed = await replaced(process, line, expression, replacement, options.includes("g"));
      if (options.includes("p") && changed !== line) await print(changed);
      return changed;
    };
  }

  #compile(source: string, ignoreCase: boolean): Promise<Expression> {
    return Expression.compile(source, { extended: this.#isExtended, ignoreCase }, this.#process);
  }

  /** The text before the next unescaped delimiter. */
  #until(delimiter: string): string | undefined {
    let text = "";
    for (; this.#at < this.#script.length; this.#at++) {
      const char = this.#script[this.#at]!;
      if (char === delimiter) {
        this.#at++;
        return text;
      }
      if (char !== "\\") text += char;
      else {
        const next = this.#script[++this.#at] ?? "";
        text += next === delimiter ? next : `\\${next}`;
      }
    }
    return undefined;
  }

  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#script);
    if (found) this.#at += found[0].length;
    return found;
  }
}

function replacementOf(text: string): Replacement {
  const parts: (string | number)[] = [];
  for (const [whole, escaped, plain] of text.matchAll(/\\([\s\S])|&|([^\\&]+)/g)) {
    if (plain !== undefined) parts.push(plain);
    else if (escaped === undefined) parts.push(whole === "&" ? 0 : whole);
    else if (/\d/.test(escaped)) parts.push(Number(escaped));
    else parts.push({ n: "\n", t: "\t" }[escaped] ?? escaped);
  }
  return parts;
}

async function replaced(
  process: Process,
  line: string,
  expression: Expression,
  replacement: Replacement,
  isGlobal: boolean,
): Promise<string> {
  let [text, at] = ["", -1];
  for await (const { start, end, groups } of expression.matches(line, process)) {
    // Nothing right after a match is part of it.
    if (start === end && start === at) continue;
    text += line.slice(Math.max(at, 0), start);
    for (const part of replacement) {
      text += typeof part === "number" ? (groups[part] ?? "") : part;
      process.memory.checkText(text.length);
    }
    at = end;
    if (!isGlobal) break;
  }
  return at < 0 ? line : text + line.slice(at);
}
