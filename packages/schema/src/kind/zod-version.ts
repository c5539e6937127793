import { isObject } from "@konverge/core";
import { z } from "zod";
import { DefinitionError } from "./definition-error.ts";

const MAJOR = 4;

/** Why definitions cannot be read with this Zod; undefined if they can. Zod 3 does not tell its version. */
export function zodProblem(zod: object): string | undefined {
  const { version } = (zod as { core?: { version?: { major: number; minor: number; patch: number } } }).core ?? {};
  if (version?.major === MAJOR) return undefined;
  const found = version ? `Zod ${version.major}.${version.minor}.${version.patch}` : "Zod 3";
  return `konverge needs Zod ${MAJOR}, but ${found} is installed: npm install zod@${MAJOR}`;
}

/** Throws unless the Zod that is installed beside Konverge is one that it can read. */
export function checkInstalledZod(): void {
  const problem = zodProblem(z);
  if (problem) throw new Error(problem);
}

/** Throws unless this is a schema of a Zod that can be read: a program may have several. */
export function checkSchemaOfZod(type: unknown, path: string): void {
  if (isObject(type) && "_zod" in type) return;
  const hint =
    isObject(type) && "_def" in type
      ? `is a schema of Zod 3: create it with Zod ${MAJOR} (npm install zod@${MAJOR})`
      : "is not a Zod schema";
  throw new DefinitionError(path, hint);
}
