import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Operator } from "@konverge/runtime";
import { isMissing } from "../missing-package.ts";
import { UsageError } from "../usage-error.ts";

/**
 * Where a project without a word about it in its package.json has its operators. Only files that say by their name what they
 * are: to look into a module is to run it.
 */
const USUAL_PLACES = ["src/operator.ts", "operator.ts", "dist/operator.js"];

/**
 * The operators that modules export: each export that `operator(…)` made, and each list of them. Without a module, those
 * of the project that the folder belongs to: what `"konverge": { "operators": "./file.ts" }` in its package.json names, or
 * one of the usual places; where there is no such project, the operators that come with Konverge.
 */
export async function loadOperators(modules: readonly string[], folder = process.cwd()): Promise<readonly Operator[]> {
  if (modules.length > 0) {
    const loaded = await Promise.all(modules.map((module) => operatorsIn(module, folder)));
    return distinct(loaded.flat());
  }
  const own = projectModule(folder);
  if (own) {
    const found = operatorsOf(await importModule(own, own));
    if (found.length > 0) return distinct(found);
  }
  const { operators } = await import("@konverge/operators");
  return operators;
}

/** The operators that come with Konverge, if they are installed: they are a package of their own. */
export async function installedOperators(): Promise<readonly Operator[]> {
  try {
    const { operators } = await import("@konverge/operators");
    return operators;
  } catch (error) {
    if (isMissing(error, "@konverge/operators")) return [];
    throw error;
  }
}

/** Those of some operators that are meant: `all`, `none`, or names with commas between them, with or without `-operator`. */
export function chosenOperators(operators: readonly Operator[], names = "all"): readonly Operator[] {
  if (names === "all") return operators;
  if (names === "none" || names.trim() === "") return [];
  return names.split(",").map((given) => {
    const name = given.trim();
    const found = operators.find((one) => one.name === name || one.name === `${name}-operator`);
    if (found) return found;
    const known = operators.map((one) => one.name).join(", ");
    throw new UsageError(`there is no operator named ${name}: --operators takes all, none, or some of ${known}`);
  });
}

async function operatorsIn(module: string, folder: string): Promise<Operator[]> {
  const path = resolve(folder, module);
  const isFile = existsSync(path);
  const found = operatorsOf(await importModule(isFile ? path : module, module));
  if (found.length > 0) return found;
  throw new UsageError(
    `${module} exports no operator: export what operator({ name, kinds, create, … }) returns, or name another module`,
  );
}

async function importModule(target: string, given: string): Promise<Record<string, unknown>> {
  const looksLikeFile = /^[./]|\.[cm]?[jt]s$/.test(given);
  if (looksLikeFile && !existsSync(target)) {
    throw new UsageError(`there is no file ${given}: name a module that exports an operator`);
  }
  try {
    return (await import(existsSync(target) ? pathToFileURL(target).href : target)) as Record<string, unknown>;
  } catch (error) {
    if (isMissing(error, given)) {
      throw new UsageError(
        `there is no file and no package ${given}: name a module that exports operators; those that come along are chosen by name: konverge run --operators=${given}`,
        { cause: error },
      );
    }
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${given} cannot be loaded: ${why}`, { cause: error });
  }
}

/** The file of the one module that is meant, for whoever wants to see it change. */
export function operatorFile(modules: readonly string[], folder = process.cwd()): string {
  const [first = projectModule(folder), ...more] = modules;
  if (more.length > 0) throw new UsageError("--watch follows one module: name the one that exports the others");
  const path = first && resolve(folder, first);
  if (path && existsSync(path)) return path;
  throw new UsageError(`--watch needs a file that exports operators: ${first ? `there is no ${first}` : "name one"}`);
}

/** Exports, and lists among the exports, that are operators. */
export function operatorsOf(module: Readonly<Record<string, unknown>>): Operator[] {
  return Object.values(module)
    .flatMap((exported) => (Array.isArray(exported) ? exported : [exported]) as unknown[])
    .filter(isOperator);
}

function isOperator(value: unknown): value is Operator {
  if (typeof value !== "object" || value === null) return false;
  const { name, kinds, create } = value as Partial<Operator>;
  return typeof name === "string" && Array.isArray(kinds) && typeof create === "function";
}

/** The same operator may be exported twice; two of one name are a mistake. */
function distinct(operators: readonly Operator[]): Operator[] {
  const known = new Map<string, Operator>();
  for (const one of operators) {
    if ((known.get(one.name) ?? one) !== one) throw new UsageError(`two operators are called ${one.name}: rename one`);
    known.set(one.name, one);
  }
  return [...known.values()];
}

/** The module with the operators of the project that a folder is in. */
function projectModule(folder: string): string | undefined {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const manifest = join(at, "package.json");
    const isProject = existsSync(manifest);
    const named = isProject
      ? (JSON.parse(readFileSync(manifest, "utf8")) as { konverge?: { operators?: string } }).konverge?.operators
      : undefined;
    if (named) return resolve(at, named);
    const usual = USUAL_PLACES.map((place) => join(at, place)).find((path) => existsSync(path));
    if (usual || isProject || dirname(at) === at) return usual;
  }
}
