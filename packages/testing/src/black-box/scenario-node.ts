import { globSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { durationMs } from "@konverge/core";
import { yamlPlace } from "@konverge/schema";
import { type ScenarioCondition, scenarioCondition } from "./scenario-conditions.ts";

/** A scenario that is not valid: `story.yaml:12:5: steps[2].wait: …`. */
export class ScenarioError extends Error {
  override readonly name = "ScenarioError";
  readonly code = "KONVERGE_SCENARIO";
}

/** A part of a scenario, which knows where it is. */
export class ScenarioNode {
  readonly #text: string;
  readonly #file: string;
  readonly #path: readonly (string | number)[];
  readonly value: unknown;

  constructor(text: string, file: string, path: readonly (string | number)[], value: unknown) {
    this.#text = text;
    this.#file = file;
    this.#path = path;
    this.value = value;
  }

  fail(problem: string): never {
    const { line, column } = yamlPlace(this.#text, this.#path);
    const path = this.#path
      .map((step, i) => (typeof step === "number" ? `[${step}]` : i > 0 ? `.${step}` : step))
      .join("");
    throw new ScenarioError(`${this.#file}:${line}:${column}: ${path === "" ? "" : `${path}: `}${problem}`);
  }

  at(step: string | number): ScenarioNode {
    const inner = (this.value as Record<string | number, unknown>)[step];
    return new ScenarioNode(this.#text, this.#file, [...this.#path, step], inner);
  }

  map(): Record<string, unknown> {
    const { value } = this;
    if (typeof value !== "object" || value === null || Array.isArray(value)) this.fail("must be a map");
    return value as Record<string, unknown>;
  }

  /** The parts of a map that has these fields and no others. */
  fields<K extends string>(known: Record<K, "required" | "optional">): Partial<Record<K, ScenarioNode>> {
    const map = this.map();
    const stray = Object.keys(map).find((name) => !(name in known));
    if (stray !== undefined) this.at(stray).fail(`unknown field; there are ${Object.keys(known).join(", ")}`);
    const parts: Partial<Record<K, ScenarioNode>> = {};
    for (const name of Object.keys(known) as K[]) {
      if (map[name] !== undefined) parts[name] = this.at(name);
      else if (known[name] === "required") this.fail(`the field ${name} is missing`);
    }
    return parts;
  }

  items(): ScenarioNode[] {
    if (!Array.isArray(this.value)) return this.fail("must be a list");
    return this.value.map((_, i) => this.at(i));
  }

  text(): string {
    return typeof this.value === "string" && this.value !== "" ? this.value : this.fail("must be a text");
  }

  count(): number {
    const { value } = this;
    return Number.isInteger(value) && (value as number) > 0
      ? (value as number)
      : this.fail("must be a positive number");
  }

  duration(): number {
    try {
      return durationMs(String(this.value));
    } catch {
      return this.fail(`must be a duration such as 500ms, 2s or 1m, not ${JSON.stringify(this.value)}`);
    }
  }

  /** `widget/web`, `deployments.apps/web` or `widget/NAMESPACE/web`. */
  target(): string {
    const text = this.text();
    return /^[^/]+(\/[^/]+){1,2}$/.test(text) ? text : this.fail("must be RESOURCE/NAME or RESOURCE/NAMESPACE/NAME");
  }

  cel(about: "object" | "objects"): ScenarioCondition {
    const text = this.text();
    try {
      return scenarioCondition(text, about);
    } catch (error) {
      return this.fail((error as Error).message);
    }
  }

  /** One file. */
  file(): string {
    const files = this.files();
    return files.length === 1 ? files[0]! : this.fail(`${files.length} files are named like this: name one`);
  }

  files(): string[] {
    const pattern = this.text();
    const full = isAbsolute(pattern) ? pattern : join(dirname(this.#file), pattern);
    const found = globSync(full).sort();
    return found.length > 0 ? found : this.fail(`no file is named ${pattern}`);
  }
}
