import { posix } from "node:path";
import type { Command, Process } from "../process.ts";
import { patternOf } from "../shell/pattern.ts";

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
    const isTrue = reader.any();
    if (reader.rest.length > 0) throw new Error(`${reader.rest[0]}: unknown operand`);
    return isTrue ? 0 : 1;
  } catch (error) {
    process.stderr(`${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    return 2;
  }
};

/** Reads a condition from left to right. */
class Conditions {
  readonly #process: Process;
  readonly rest: string[];
  readonly #matches: boolean;

  constructor(process: Process, words: readonly string[], matches: boolean) {
    this.#process = process;
    this.rest = [...words];
    this.#matches = matches;
  }

  any(): boolean {
    let isTrue = this.#all();
    while (this.rest[0] === "-o") {
      this.rest.shift();
      isTrue = this.#all() || isTrue;
    }
    return isTrue;
  }

  #all(): boolean {
    let isTrue = this.#one();
    while (this.rest[0] === "-a") {
      this.rest.shift();
      isTrue = this.#one() && isTrue;
    }
    return isTrue;
  }

  #one(): boolean {
    const [first, second, third] = this.rest;
    if (second !== undefined && third !== undefined && BINARY.has(second)) {
      this.rest.splice(0, 3);
      return this.#compare(first!, second, third);
    }
    if (first === "!") {
      this.rest.shift();
      return !this.#one();
    }
    if (first === "(") {
      this.rest.shift();
      const isTrue = this.any();
      this.rest.shift();
      return isTrue;
    }
    if (first !== undefined && /^-[a-zA-Z]$/.test(first) && second !== undefined) {
      this.rest.splice(0, 2);
      return this.#check(first, second);
    }
    this.rest.shift();
    return first !== undefined && first !== "";
  }

  #compare(left: string, operator: string, right: string): boolean {
    switch (operator) {
      case "=":
      case "==":
        return this.#matches ? patternOf(right).test(left) : left === right;
      case "!=":
        return this.#matches ? !patternOf(right).test(left) : left !== right;
      case "=~":
        return new RegExp(right).test(left);
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
