import { readFileSync } from "node:fs";
import type { KubeObject } from "@konverge/core";
import { parseYaml, parseYamlDocument, YamlError } from "@konverge/schema";
import type { IgnoredPart } from "./ignored-parts.ts";
import type { ScenarioCondition } from "./scenario-conditions.ts";
import { ScenarioError, ScenarioNode } from "./scenario-node.ts";

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

/** How the program of a scenario is started, where the scenario decides that. */
export interface ScenarioProgram {
  /** Without the program's name. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Files that it finds, by path, as a ConfigMap or a Secret would be mounted. */
  readonly files: Readonly<Record<string, Uint8Array>>;
  /** How many processes of it run at a time. */
  readonly replicas: number;
  /** The port on which it serves webhooks, if it is not that of controller-runtime. */
  readonly webhookPort?: number;
}

/** What a user and the cluster do while a program is explored, read from YAML. */
export interface ProgramScenario {
  readonly name: string;
  /** Where relative targets and objects without a namespace are. */
  readonly namespace: string;
  readonly program: ScenarioProgram;
  /** Applied before the program starts: CRDs, roles, namespaces. */
  readonly setup: readonly KubeObject[];
  readonly steps: readonly ScenarioStep[];
  readonly invariants: readonly ScenarioInvariant[];
  /** In what the ends of runs may differ. */
  readonly ignore: readonly IgnoredPart[];
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
  const { name, namespace, program, crds, setup, steps, invariants, ignore } = root.fields({
    name: "optional",
    namespace: "optional",
    program: "optional",
    crds: "optional",
    setup: "optional",
    steps: "required",
    invariants: "optional",
    ignore: "optional",
  });
  const items = steps!.items();
  if (items.length === 0) steps!.fail("a scenario needs one step or more");
  return {
    name: name?.text() ?? file,
    namespace: namespace?.text() ?? "default",
    program: programOf(program),
    setup: [...manifests(crds), ...manifests(setup)],
    steps: items.map(stepOf),
    invariants: invariants?.items().map(invariantOf) ?? [],
    ignore: ignore?.items().map(ignoredOf) ?? [],
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

function programOf(node: ScenarioNode | undefined): ScenarioProgram {
  const { args, env, files, replicas, webhookPort } =
    node?.fields({
      args: "optional",
      env: "optional",
      files: "optional",
      replicas: "optional",
      webhookPort: "optional",
    }) ?? {};
  const entries = (map: ScenarioNode | undefined) =>
    Object.keys(map?.map() ?? {}).map((key) => [key, map!.at(key)] as const);
  return {
    args: args?.items().map((arg) => arg.text()) ?? [],
    env: Object.fromEntries(entries(env).map(([name, value]) => [name, value.text()])),
    files: Object.fromEntries(entries(files).map(([path, file]) => [path, readFileSync(file.file())])),
    replicas: replicas?.count() ?? 1,
    ...(webhookPort && { webhookPort: webhookPort.count() }),
  };
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

function ignoredOf(node: ScenarioNode): IgnoredPart {
  const { kind, name, fields } = node.fields({ kind: "optional", name: "optional", fields: "optional" });
  if (!kind && !name && !fields) node.fail("needs kind, name or fields");
  return {
    ...(kind && { kind: kind.text() }),
    ...(name && { name: name.text() }),
    ...(fields && { fields: fields.items().map((field) => field.text()) }),
  };
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
