import type { Container, EnvVar, Pod } from "@konverge/kinds";
import { subPathError } from "../images/confined-path.ts";
import { expand, fieldValue } from "../images/environment.ts";
import type { Place } from "../images/run.ts";

/** Why a part of a volume that a container asks for cannot be mounted: nodes find that out before they make it. */
export function subPathProblem(pod: Pod, container: Container, place: Place): string | undefined {
  try {
    return problemOf(pod, container, place);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The longest path that Linux knows, in bytes. */
const LONGEST = 4096;

function problemOf(pod: Pod, container: Container, place: Place): string | undefined {
  for (const { subPath = "", subPathExpr } of container.volumeMounts ?? []) {
    if ((subPathExpr ?? subPath).length > LONGEST) return "file name too long";
    const [path, missing] = subPathExpr === undefined ? [subPath, []] : expanded(pod, container, place, subPathExpr);
    if (missing.length > 0) return `missing value for ${missing.sort().join(", ")}`;
    const problem = subPathError(path);
    if (problem) return problem;
  }
  return undefined;
}

/** The text with its variables, and those that have no value. Variables from elsewhere are not judged here. */
function expanded(pod: Pod, { env = [] }: Container, place: Place, text: string): [string, string[]] {
  const values: Record<string, string> = {};
  for (const variable of env) {
    const value = plainValue(pod, place, variable, values);
    if (value !== undefined) values[variable.name] = value;
  }
  const wanted = Array.from(text.matchAll(/(?<!\$)\$\(([^)]*)\)/g), ([, name = ""]) => name);
  const known = new Set(env.map(({ name }) => name));
  return [expand(text, values), wanted.filter((name) => !known.has(name) || values[name] === "")];
}

function plainValue(
  pod: Pod,
  place: Place,
  { value, valueFrom }: EnvVar,
  values: Readonly<Record<string, string>>,
): string | undefined {
  if (!valueFrom) return expand(value ?? "", values);
  return valueFrom.fieldRef && (fieldValue({ place }, pod, valueFrom.fieldRef.fieldPath) ?? "");
}
