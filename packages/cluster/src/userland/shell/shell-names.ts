import type { Holding } from "../limits/memory.ts";
import type { Node } from "./syntax.ts";

export type FunctionNode = Extract<Node, { kind: "function" }>;

/** What a name takes besides its text, and one that is shared with the shell that this one came from, in bytes. */
const NAME = 1024;
const SHARED_NAME = 128;
/** A function in memory, by the characters of its source. */
const PER_CHARACTER = 16;

/**
 * The variables and functions of a shell, and which of them commands see. Each shell pays for what it has set itself: what
 * a subshell forgets still belongs to the shell that it came from.
 */
export class ShellNames {
  readonly #memory: Holding;
  readonly #variables: Map<string, string>;
  readonly #functions: Map<string, FunctionNode>;
  readonly #exported: Set<string>;
  /** What this shell holds for each name. */
  readonly #held = new Map<string, number>();

  constructor(memory: Holding, from: ShellNames | Readonly<Record<string, string>>) {
    this.#memory = memory;
    const parent = from instanceof ShellNames ? from : undefined;
    memory.hold((parent?.count ?? 0) * SHARED_NAME);
    this.#variables = new Map(parent ? parent.#variables : Object.entries(from));
    this.#functions = new Map(parent ? parent.#functions : []);
    this.#exported = new Set(parent ? parent.#exported : Object.keys(from));
  }

  get count(): number {
    return this.#variables.size + this.#functions.size + this.#exported.size;
  }

  variable(name: string): string | undefined {
    return this.#variables.get(name);
  }

  set(name: string, value: string): void {
    this.#pay(`v ${name}`, NAME + name.length + value.length);
    this.#variables.set(name, value);
  }

  function(name: string): FunctionNode | undefined {
    return this.#functions.get(name);
  }

  define(node: FunctionNode): void {
    this.#pay(`f ${node.name}`, NAME + node.name.length + node.size * PER_CHARACTER);
    this.#functions.set(node.name, node);
  }

  unset(name: string): void {
    this.#pay(`v ${name}`, 0);
    this.#pay(`f ${name}`, 0);
    this.#variables.delete(name);
    this.#functions.delete(name);
  }

  export(name: string): void {
    if (this.#exported.has(name)) return;
    this.#pay(`e ${name}`, NAME + name.length);
    this.#exported.add(name);
  }

  /** What commands see, and about how many bytes that is besides the texts. */
  environment(): { readonly env: Record<string, string>; readonly size: number } {
    const env: Record<string, string> = {};
    for (const name of this.#exported) {
      const value = this.#variables.get(name);
      if (value !== undefined) env[name] = value;
    }
    return { env, size: this.#exported.size * SHARED_NAME };
  }

  #pay(key: string, bytes: number): void {
    const before = this.#held.get(key) ?? 0;
    this.#memory.hold(bytes - before);
    if (bytes > 0) this.#held.set(key, bytes);
    else this.#held.delete(key);
  }
}
