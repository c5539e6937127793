import { ConfigError } from "./connection-config.ts";

/** Reads fields of a parsed file; what is not as it should be is an error that names file and field. */
export class Fields {
  readonly #value: Record<string, unknown>;
  readonly #file: string;
  readonly #path: string;

  constructor(value: unknown, file: string, path = "") {
    this.#file = file;
    this.#path = path;
    if (value !== undefined && value !== null && (typeof value !== "object" || Array.isArray(value))) {
      throw this.error("", `expected an object, got ${describe(value)}`);
    }
    this.#value = (value ?? {}) as Record<string, unknown>;
  }

  /** An error about a field of this object. */
  error(name: string, problem: string): ConfigError {
    return new ConfigError(`${this.#file}: ${this.#at(name) || "the file"}: ${problem}`);
  }

  has(name: string): boolean {
    return this.#value[name] !== undefined && this.#value[name] !== null;
  }

  raw(name: string): unknown {
    return this.#value[name];
  }

  /** Undefined when absent or empty, as an empty string means "not set" in a kubeconfig. */
  string(name: string): string | undefined {
    const value = this.#value[name];
    if (value === undefined || value === null || value === "") return undefined;
    if (typeof value !== "string") throw this.error(name, `expected a string, got ${describe(value)}`);
    return value;
  }

  required(name: string): string {
    const value = this.string(name);
    if (value === undefined) throw this.error(name, "is missing");
    return value;
  }

  boolean(name: string): boolean {
    const value = this.#value[name] ?? false;
    if (typeof value !== "boolean") throw this.error(name, `expected true or false, got ${describe(value)}`);
    return value;
  }

  strings(name: string): string[] {
    return this.#items(name).map((item, i) => {
      if (typeof item !== "string") throw this.error(`${name}[${i}]`, `expected a string, got ${describe(item)}`);
      return item;
    });
  }

  object(name: string): Fields {
    return new Fields(this.#value[name], this.#file, this.#at(name));
  }

  objects(name: string): Fields[] {
    return this.#items(name).map((item, i) => new Fields(item, this.#file, `${this.#at(name)}[${i}]`));
  }

  keys(): string[] {
    return Object.keys(this.#value);
  }

  #items(name: string): unknown[] {
    const value = this.#value[name] ?? [];
    if (!Array.isArray(value)) throw this.error(name, `expected a list, got ${describe(value)}`);
    return value;
  }

  #at(name: string): string {
    return this.#path === "" || name === "" ? this.#path + name : `${this.#path}.${name}`;
  }
}

/** Without its value: a kubeconfig, or what a plugin printed, has credentials, also in the wrong place. */
function describe(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  return value === null ? "null" : typeof value === "object" ? "an object" : `a ${typeof value}`;
}
