/** Packages of KUDO: a folder with operator.yaml, params.yaml and templates. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { isObject } from "@konverge/core";
import { parseYaml, printYaml } from "@konverge/schema";
import type { Instance, KudoOperator, OperatorVersion, Parameter } from "./kudo-kinds.ts";
import { versionName } from "./task-drafts.ts";

/** What `kubectl kudo install` creates of a package. */
export interface KudoPackage {
  readonly operator: KudoOperator;
  readonly version: OperatorVersion;
  readonly instance: Instance;
}

type Fields = Readonly<Record<string, unknown>>;
const API_VERSION = "kudo.dev/v1beta1";
/** Fields of a parameter that are of use before it is installed only. */
const BEFORE_INSTALLATION = ["group", "advanced", "hint"];

/** Reads a package. Throws if it is none, with what is wrong. */
export function readKudoPackage(path: string): KudoPackage {
  const operator = readFields(path, "operator.yaml");
  const params = readFields(path, "params.yaml");
  const {
    name,
    operatorVersion,
    appVersion,
    plans,
    tasks = [],
    ...about
  } = operator as {
    name?: string;
    operatorVersion?: string;
    appVersion?: string;
    plans?: object;
    tasks?: Fields[];
  };
  if (!name || !operatorVersion) throw new Error(`${join(path, "operator.yaml")}: set name and operatorVersion`);
  const templates = templatesIn(path);
  const problems = tasks.flatMap((task) => taskProblems(task, templates));
  if (problems.length > 0) throw new Error(`${join(path, "operator.yaml")}: ${problems.join("; ")}`);
  const { apiVersion: _, parameters = [] } = params as { apiVersion?: string; parameters?: Fields[] };
  const { apiVersion: _a, ...spec } = about as Fields;
  const version = versionName(name, appVersion, operatorVersion);
  const metadata = (called: string) => ({ metadata: { name: called } });
  return {
    operator: { apiVersion: API_VERSION, kind: "Operator", ...metadata(name), spec } as KudoOperator,
    version: {
      apiVersion: API_VERSION,
      kind: "OperatorVersion",
      ...metadata(version),
      spec: {
        operator: { name, kind: "Operator" },
        ...(appVersion && { appVersion }),
        version: operatorVersion,
        templates,
        tasks,
        parameters: parameters.map(parameterOf),
        plans,
      },
    } as OperatorVersion,
    instance: {
      apiVersion: API_VERSION,
      kind: "Instance",
      metadata: { name: `${name}-instance`, labels: { "kudo.dev/operator": name } },
      spec: { operatorVersion: { name: version } },
    } as unknown as Instance,
  };
}

function readFields(path: string, name: string): Fields {
  const file = join(path, name);
  if (!existsSync(file)) throw new Error(`${path} is no KUDO package: it has no ${name}`);
  const [content] = parseYaml(readFileSync(file, "utf8"));
  if (!isObject(content)) throw new Error(`${file}: it has no fields`);
  const { apiVersion = API_VERSION } = content as { apiVersion?: string };
  if (apiVersion !== API_VERSION)
    throw new Error(`${file}: expected apiVersion ${API_VERSION}, but it is ${apiVersion}`);
  return content as Fields;
}

function templatesIn(path: string): Record<string, string> {
  const folder = join(path, "templates");
  const names = globSync("**/*.yaml", { cwd: folder }).sort();
  return Object.fromEntries(names.map((name) => [name.split(sep).join("/"), readFileSync(join(folder, name), "utf8")]));
}

function taskProblems({ name, kind, spec }: Fields, templates: Readonly<Record<string, string>>): string[] {
  const {
    resources = [],
    pod,
    parameterFile,
    parameter,
    pipe,
  } = (spec ?? {}) as {
    resources?: string[];
    pod?: string;
    parameterFile?: string;
    parameter?: string;
    pipe?: unknown[];
  };
  const named =
    kind === "Pipe" ? [pod ?? ""] : kind === "KudoOperator" ? (parameterFile ? [parameterFile] : []) : resources;
  const missing = named
    .filter((one) => !Object.hasOwn(templates, one))
    .map((one) => `task ${name} missing template: ${one}`);
  const known = ["Apply", "Delete", "Toggle", "Pipe", "KudoOperator", "Dummy"].includes(String(kind));
  return [
    ...missing,
    ...(known ? [] : [`unknown task kind ${kind}`]),
    ...(kind === "Toggle" && !parameter ? [`toggle task ${name} does not have parameter specified`] : []),
    ...(kind === "Pipe" && !pipe?.length ? [`task ${name} does not have pipe files specified`] : []),
  ];
}

/** Values of OperatorVersions are texts. */
function parameterOf(given: Fields): Parameter {
  const { type, default: value, enum: allowed, ...rest } = given;
  const kept = Object.fromEntries(Object.entries(rest).filter(([name]) => !BEFORE_INSTALLATION.includes(name)));
  return {
    required: true,
    immutable: false,
    ...kept,
    ...(value !== undefined && value !== null && { default: textOf(value) }),
    ...(Array.isArray(allowed) && { enum: allowed.map(textOf) }),
    ...(type !== undefined && { "value-type": String(type) }),
  } as Parameter;
}

function textOf(value: unknown): string {
  return typeof value === "object" ? printYaml(value) : String(value);
}
