import { posix } from "node:path";
import { Expression } from "../expressions/expression.ts";
import { OutOfMemory } from "../limits/memory.ts";
import type { Command, Process } from "../process.ts";
import { Glob } from "../shell/pattern.ts";

/** Conditions within one another. */
const DEEPEST = 200;
const BINARY = new Set(["=", "==", "!=", "<", ">", "=~", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot"]);

/** `test`, `[` and `[[`: conditions about texts, numbers and files. */
export const test: Command = async (process) => {
  const [name = "", ...given] = process.argv;
  const close = name === "[" ? "]" : name === "[[" ? "]]" : undefined;
  const words = [...given];
  if (close !== undefined && words.pop() !== close) {
    process.stderr(`${name}: missing ${close}\n`);
    return 2;
  }
  if (words.length === 0) return 1;
  const reader = new Conditions(process, words, name === "[[");
  try {
    const isTrue = await reader.any();
    if (reader.next !== undefined) throw new Error(`${reader.next}: unknown operand`);
    return isTrue ? 0 : 1;
  } catch (error) {
    if (error instanceof OutOfMemory || process.signal.aborted) throw error;
    process.stderr(`${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    return 2;
  }
};

/** Reads a condition from left to right. */
class Conditions {
  readonly #process: Process;
  readonly #words: readonly string[];
  readonly #matches: boolean;
  #at = 0;
  #depth = 0;

  constructor(process: Process, words: readonly string[], matches: boolean) {
    this.#process = process;
    this.#words = words;
    this.#matches = matches;
  }

  /** The word that has not been read. */
  get next(): string | undefined {
    return this.#words[this.#at];
  }

  async any(): Promise<boolean> {
    let isTrue = await this.#all();
    while (this.next === "-o") {
      this.#at++;
      isTrue = (await this.#all()) || isTrue;
    }
    return isTrue;
  }

  async #all(): Promise<boolean> {
    let isTrue = await this.#one();
    while (this.next === "-a") {
      this.#at++;
      isTrue = (await this.#one()) && isTrue;
    }
    return isTrue;
  }

  async #one(): Promise<boolean> {
    if (++this.#depth > DEEPEST) throw new Error("too many arguments");
    const isTrue = await this.#condition();
    this.#depth--;
    return isTrue;
  }

  async #condition(): Promise<boolean> {
    const pause = this.#process.spend(1);
    if (pause) await pause;
    const [first, second, third] = this.#words.slice(this.#at, this.#at + 3);
    if (second !== undefined && third !== undefined && BINARY.has(second)) {
      this.#at += 3;
      return this.#compare(first!, second, third);
    }
    this.#at++;
    if (first === "!") return !(await this.#one());
    if (first === "(") {
      const isTrue = await this.any();
      this.#at++;
      return isTrue;
    }
    if (first !== undefined && /^-[a-zA-Z]$/.test(first) && second !== undefined) {
      this.#at++;
      return this.#check(first, second);
    }
    return first !== undefined && first !== "";
  }

  async #compare(left: string, operator: string, right: string): Promise<boolean> {
    const process = this.#process;
    const isEqual = () => (this.#matches ? new Glob(right).matches(left, process) : left === right);
    switch (operator) {
      case "=":
      case "==":
        return isEqual();
      case "!=":
        return !(await isEqual());
      case "=~":
        return (await Expression.compile(right, { extended: true }, process)).test(left, process);
      case "<":
        return left < right;
      case ">":
        return left > right;
      case "-nt":
      case "-ot": {
        const age = (name: string) => this.#process.files.stat(this.#path(name)).changedAt;
        return operator === "-nt" ? age(left) > age(right) : age(left) < age(right);
      }
      default:
        return compareNumbers(numberOf(left), operator, numberOf(right));
    }
  }

  #check(operator: string, operand: string): boolean {
    if (operator === "-z") return operand === "";
    if (operator === "-n") return operand !== "";
    if (operator === "-t") return false;
    const { files } = this.#process;
    const path = this.#path(operand);
    if (operator === "-r") return files.allows(path, 4);
    if (operator === "-w") return files.allows(path, 2);
    if (operator === "-x") return files.allows(path, 1);
    const isLink = operator === "-L" || operator === "-h";
    try {
      const { kind, size } = files.stat(path, { follow: !isLink });
      if (isLink) return kind === "link";
      if (operator === "-f") return kind === "file";
      if (operator === "-d") return kind === "directory";
      if (operator === "-s") return size > 0;
      if (operator === "-c") return kind === "device";
      return operator === "-e";
    } catch {
      return false;
    }
  }

  #path(name: string): string {
    return posix.resolve(this.#process.cwd, name);
  }
}

function numberOf(text: string): number {
  if (!/^\s*[-+]?\d+\s*$/.test(text)) throw new Error(`${text}: bad number`);
  return Number(text);
}

function compareNumbers(left: number, operator: string, right: number): boolean {
  switch (operator) {
    case "-eq":
      return left === right;
    case "-ne":
      return left !== right;
    case "-lt":
      return left < right;
    case "-le":
      return left <= right;
    case "-gt":
      return left > right;
    default:
      return left >= right;
  }
}
