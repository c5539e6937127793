import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { CrdObject } from "@konverge/schema";
import { UsageError } from "../usage-error.ts";
import { fileName } from "./names.ts";

/** A project that `konverge init` made. */
export interface FoundProject {
  readonly folder: string;
  readonly name: string;
  readonly domain: string;
}

/** The project that a folder is in; undefined if there is none. */
export function findProject(from: string): FoundProject | undefined {
  for (let at = resolve(from); ; at = dirname(at)) {
    if (existsSync(join(at, "package.json")) && existsSync(join(at, "src", "operator.ts"))) {
      const { name, konverge } = JSON.parse(readFileSync(join(at, "package.json"), "utf8")) as {
        name: string;
        konverge?: { domain?: string };
      };
      return { folder: at, name, domain: konverge?.domain ?? "example.com" };
    }
    if (dirname(at) === at) return undefined;
  }
}

/** The project that a folder is in. */
export function projectOf(from: string): FoundProject {
  const found = findProject(from);
  if (found) return found;
  throw new UsageError("there is no project here: change to its folder, or start one with: npx konverge init NAME");
}

/** A kind that a file of the project defines with `defineKind`. */
export interface ProjectKind {
  /** Relative to the project: `src/training-job.ts`. */
  readonly path: string;
  readonly crd: CrdObject;
}

/** Loads a kind of the project from the file of its name. */
export async function projectKind({ folder }: FoundProject, kind: string): Promise<ProjectKind> {
  const path = `src/${fileName(kind)}.ts`;
  const file = join(folder, path);
  if (!existsSync(file)) {
    throw new UsageError(
      `the project has no kind ${kind}: there is no ${path}. Add it with: npx konverge create api --kind ${kind}`,
    );
  }
  // The file may have changed since this process has loaded it.
  const module = (await import(`${pathToFileURL(file).href}?at=${process.hrtime.bigint()}`).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${path} cannot be loaded: ${why}`, { cause: error });
  })) as Record<string, unknown>;
  const defined = Object.values(module).find((one): one is Defined => isDefined(one) && one.kind === kind);
  if (!defined) throw new UsageError(`${path} exports no kind ${kind} that defineKind made: export const ${kind}`);
  return { path, crd: defined.crd({ conversionWebhook: { url: "https://unused.invalid" } }) };
}

interface Defined {
  readonly kind: string;
  readonly crd: (options: object) => CrdObject;
}

const isDefined = (one: unknown): one is Defined =>
  typeof one === "object" && one !== null && "kind" in one && typeof (one as { crd?: unknown }).crd === "function";
