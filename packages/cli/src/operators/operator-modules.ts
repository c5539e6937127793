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

/** A module that exports operators. */
export interface OperatorModule {
  readonly url: string;
  readonly operators: readonly Operator[];
}

/** The operators that modules export: see {@link operatorModules}. */
export async function loadOperators(modules: readonly string[], folder = process.cwd()): Promise<readonly Operator[]> {
  return distinct((await operatorModules(modules, folder)).flatMap(({ operators }) => operators));
}

/** The operators of the project that a folder belongs to; none outside of one. */
export async function projectOperators(folder = process.cwd()): Promise<readonly Operator[]> {
  return projectModule(folder) === undefined ? [] : loadOperators([], folder);
}

/**
 * Loads modules for the operators that they export: each export that `operator(…)` made, and each list of them. Without a
 * module, that of the project that the folder belongs to: what `"konverge": { "operators": "./file.ts" }` in its
 * package.json names, or one of the usual places; where there is no such project, the operators that come with Konverge.
 */
async function operatorModules(modules: readonly string[], folder: string): Promise<readonly OperatorModule[]> {
  if (modules.length > 0) return Promise.all(modules.map((module) => namedModule(module, folder)));
  return [(await ownModule(folder)) ?? (await suppliedModule())];
}

/**
 * The operators that there are for a cluster, with their modules: those that the named modules export; without any, those
 * of the project that the folder belongs to and those that come with Konverge. Of two with one name, the project's.
 */
export async function knownOperators(
  modules: readonly string[],
  folder: string,
): Promise<readonly { readonly operator: Operator; readonly module: string }[]> {
  const found = modules.length > 0 ? await operatorModules(modules, folder) : await allModules(folder);
  const known = new Map<string, { operator: Operator; module: string }>();
  for (const { url, operators } of found) {
    for (const operator of distinct(operators)) {
      if (!known.has(operator.name)) known.set(operator.name, { operator, module: url });
    }
  }
  return [...known.values()];
}

async function allModules(folder: string): Promise<readonly OperatorModule[]> {
  const own = await ownModule(folder);
  const supplied = await suppliedModule().catch((error: unknown) => {
    if (own && isMissing(error, SUPPLIED)) return undefined;
    throw error;
  });
  return [...(own ? [own] : []), ...(supplied ? [supplied] : [])];
}

/** Those of some operators that are meant: `all`, `none`, or names with commas between them, with or without `-operator`. */
export function chosenOperators<T extends { readonly name: string }>(
  operators: readonly T[],
  names = "all",
): readonly T[] {
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

async function namedModule(module: string, folder: string): Promise<OperatorModule> {
  const path = resolve(folder, module);
  const found = await importModule(existsSync(path) ? path : module, module);
  if (found.operators.length > 0) return found;
  throw new UsageError(
    `${module} exports no operator: export what operator({ name, kinds, create, … }) returns, or name another module`,
  );
}

/** The module of the project that a folder is in, if that exports operators. */
async function ownModule(folder: string): Promise<OperatorModule | undefined> {
  const path = projectModule(folder);
  const found = path === undefined ? undefined : await importModule(path, path);
  return found && found.operators.length > 0 ? found : undefined;
}

/** The operators that come with Konverge are a separate package, which may not be installed. */
async function suppliedModule(): Promise<OperatorModule> {
  const { operators } = await import("@konverge/operators");
  return { url: import.meta.resolve(SUPPLIED), operators };
}

const SUPPLIED = "@konverge/operators";

/** Whether all of these operators come with Konverge, and so are in its image. */
export async function areSupplied(operators: readonly Operator[]): Promise<boolean> {
  const supplied = await suppliedModule().catch((error: unknown) => {
    if (isMissing(error, SUPPLIED)) return undefined;
    throw error;
  });
  return operators.every((one) => supplied?.operators.includes(one) ?? false);
}

async function importModule(target: string, given: string): Promise<OperatorModule> {
  const looksLikeFile = /^[./]|\.[cm]?[jt]s$/.test(given);
  if (looksLikeFile && !existsSync(target)) {
    throw new UsageError(`there is no file ${given}: name a module that exports an operator`);
  }
  try {
    const url = existsSync(target) ? pathToFileURL(target).href : import.meta.resolve(target);
    return { url, operators: operatorsOf((await import(url)) as Record<string, unknown>) };
  } catch (error) {
    if (isMissing(error, given)) {
      throw new UsageError(
        `there is no file and no package ${given}: name a module that exports operators; the built-in ones are chosen by name: konverge run --operators=${given}`,
        { cause: error },
      );
    }
    const { loadErrorText } = await import("@konverge/runtime");
    throw new UsageError(`${given} cannot be loaded: ${loadErrorText(error)}`, { cause: error });
  }
}

/** The file of the module, to watch it for changes. */
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
