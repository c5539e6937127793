import { globSync, readFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { durationMs, type KubeObject } from "@konverge/core";
import { parseYaml, parseYamlDocument, YamlError, yamlPlace } from "@konverge/schema";
import { type ScenarioCondition, scenarioCondition } from "./scenario-conditions.ts";

/** One step of a scenario. */
export type ScenarioStep =
  | { readonly type: "apply"; readonly objects: readonly KubeObject[] }
  | { readonly type: "patch"; readonly target: string; readonly patch: object; readonly subresource?: string }
  | { readonly type: "delete"; readonly target: string }
  | { readonly type: "wait"; readonly target: string; readonly until: WaitUntil; readonly timeout: number }
  | { readonly type: "wait-idle" }
  | { readonly type: "pause"; readonly ms: number };

/** What a `wait` step waits for. */
export type WaitUntil =
  | { readonly condition: string; readonly status: string }
  | { readonly expression: ScenarioCondition }
  | { readonly deleted: true };

/** A property of all states that the cluster goes through, or of the last one. */
export interface ScenarioInvariant {
  readonly name: string;
  readonly when: "always" | "eventually";
  readonly condition: ScenarioCondition;
}

/** What a user and the cluster do while a program is explored, read from YAML. */
export interface ProgramScenario {
  readonly name: string;
  /** Where relative targets and objects without a namespace are. */
  readonly namespace: string;
  /** Applied before the program starts: CRDs, roles, namespaces. */
  readonly setup: readonly KubeObject[];
  readonly steps: readonly ScenarioStep[];
  readonly invariants: readonly ScenarioInvariant[];
}

/** A scenario that is not valid: `story.yaml:12:5: steps[2].wait: …`. */
export class ScenarioError extends Error {
  override readonly name = "ScenarioError";
  readonly code = "KONVERGE_SCENARIO";
}

/** The time that a `wait` step has, in milliseconds, if it does not say. */
const WAIT = 30_000;

/** Reads a scenario from a file. File names in it are relative to its folder. */
export function readScenario(file: string): ProgramScenario {
  return parseScenario(readFileSync(file, "utf8"), file);
}

/** Reads a scenario; throws a {@link ScenarioError} that says where it is wrong. */
export function parseScenario(text: string, file = "scenario.yaml"): ProgramScenario {
  const root = new ScenarioNode(text, file, [], read(text, file));
  const { name, namespace, crds, setup, steps, invariants } = root.fields({
    name: "optional",
    namespace: "optional",
    crds: "optional",
    setup: "optional",
    steps: "required",
    invariants: "optional",
  });
  const items = steps!.items();
  if (items.length === 0) steps!.fail("a scenario needs one step or more");
  return {
    name: name?.text() ?? file,
    namespace: namespace?.text() ?? "default",
    setup: [...manifests(crds), ...manifests(setup)],
    steps: items.map(stepOf),
    invariants: invariants?.items().map(invariantOf) ?? [],
  };
}

function read(text: string, file: string): unknown {
  try {
    const { value, duplicates } = parseYamlDocument(text);
    if (duplicates.length > 0) throw new ScenarioError(`${file}: ${duplicates[0]}`);
    return value;
  } catch (error) {
    if (error instanceof YamlError) throw new ScenarioError(`${file}:${error.line}:${error.column}: ${error.message}`);
    throw error;
  }
}

const STEPS: Record<string, (node: ScenarioNode) => ScenarioStep> = {
  apply: (node) => ({ type: "apply", objects: manifests(node) }),
  patch(node) {
    const { target, merge, subresource } = node.fields({
      target: "required",
      merge: "required",
      subresource: "optional",
    });
    const patch = merge!.value;
    if (typeof patch !== "object" || patch === null) merge!.fail("must be a map: a JSON merge patch");
    return {
      type: "patch",
      target: target!.target(),
      patch: patch as object,
      ...(subresource && { subresource: subresource.text() }),
    };
  },
  delete: (node) => ({ type: "delete", target: node.target() }),
  wait(node) {
    if (node.value === "idle") return { type: "wait-idle" };
    const parts = node.fields({
      for: "required",
      condition: "optional",
      expression: "optional",
      deleted: "optional",
      timeout: "optional",
    });
    const given = (["condition", "expression", "deleted"] as const).filter((name) => parts[name]);
    if (given.length !== 1) node.fail("needs one of condition, expression and deleted");
    const timeout = parts.timeout?.duration() ?? WAIT;
    return { type: "wait", target: parts.for!.target(), until: untilOf(parts), timeout };
  },
  pause: (node) => ({ type: "pause", ms: node.duration() }),
};

function untilOf(parts: Partial<Record<"condition" | "expression" | "deleted", ScenarioNode>>): WaitUntil {
  if (parts.condition) {
    const [condition = "", status = "True"] = parts.condition.text().split("=");
    return { condition, status };
  }
  if (parts.expression) return { expression: parts.expression.cel("object") };
  if (parts.deleted!.value !== true) parts.deleted!.fail("must be true");
  return { deleted: true };
}

function stepOf(node: ScenarioNode): ScenarioStep {
  const names = Object.keys(STEPS);
  const given = Object.keys(node.map());
  const [name] = given;
  if (given.length !== 1 || !STEPS[name!])
    node.fail(`a step has one of ${names.join(", ")}, not ${given.join(" and ") || "nothing"}`);
  return STEPS[name!]!(node.at(name!));
}

function invariantOf(node: ScenarioNode): ScenarioInvariant {
  const parts = node.fields({ name: "optional", always: "optional", eventually: "optional" });
  if ((parts.always === undefined) === (parts.eventually === undefined)) node.fail("needs either always or eventually");
  const when = parts.always ? "always" : "eventually";
  const expression = parts[when]!;
  return { name: parts.name?.text() ?? expression.text(), when, condition: expression.cel("objects") };
}

/** Objects that are written in place, or names of files with them; one, or a list. */
function manifests(node: ScenarioNode | undefined): KubeObject[] {
  if (!node) return [];
  if (Array.isArray(node.value)) return node.items().flatMap((item) => manifests(item));
  if (typeof node.value === "string") return node.files().flatMap((file) => objectsIn(node, file));
  const { apiVersion, kind, metadata } = node.map() as Partial<KubeObject>;
  if (!apiVersion || !kind || !metadata?.name) node.fail("an object needs apiVersion, kind and metadata.name");
  return [node.value as KubeObject];
}

function objectsIn(node: ScenarioNode, file: string): KubeObject[] {
  try {
    return parseYaml(readFileSync(file, "utf8")) as KubeObject[];
  } catch (error) {
    return node.fail(`${file}: ${error instanceof Error ? error.message : error}`);
  }
}

/** A part of a scenario, which knows where it is. */
class ScenarioNode {
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

  files(): string[] {
    const pattern = this.text();
    const full = isAbsolute(pattern) ? pattern : join(dirname(this.#file), pattern);
    const found = globSync(full).sort();
    return found.length > 0 ? found : this.fail(`no file is named ${pattern}`);
  }
}
