import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { AnyObject } from "@konverge/core";
import { downloadModule } from "@konverge/real";
import { parseYaml } from "@konverge/schema";
import type { Upstream } from "./upstreams.ts";

/** A file of an upstream project that has at least one object of its kinds. */
export interface Manifest {
  /** Its path in the project. */
  readonly file: string;
  readonly objects: readonly AnyObject[];
}

/** What was found of a project. */
export interface Found {
  readonly manifests: readonly Manifest[];
  /** Objects that an installation of the project has. */
  readonly installed: readonly AnyObject[];
  /** Files that name a kind of the project and are not YAML: templates that something has to fill in first. */
  readonly templates: readonly string[];
}

/** The manifests of an upstream project, from its Go module or from a checkout. */
export function manifestsOf(upstream: Upstream, checkout?: string): Found {
  const { folders, checkoutFolders = folders } = upstream;
  const [root, chosen] = checkout ? [checkout, checkoutFolders] : [moduleFolder(upstream), folders];
  const manifests: Manifest[] = [];
  const templates: string[] = [];
  for (const path of chosen.flatMap((folder) => yamlFiles(join(root, folder)))) {
    const file = relative(root, path);
    const text = readFileSync(path, "utf8");
    if (!upstream.groups.some((group) => text.includes(`${group}/`))) continue;
    const objects = objectsIn(text);
    if (objects === undefined) templates.push(file);
    else if (objects.some((object) => isOf(upstream, object))) manifests.push({ file, objects });
  }
  const definitions = upstream.definitions === undefined ? [] : yamlFiles(join(root, upstream.definitions));
  const installed = upstream.installed === undefined ? [] : yamlFiles(join(root, upstream.installed));
  const readable = installed.flatMap((path) => objectsIn(readFileSync(path, "utf8")) ?? []);
  return {
    manifests: upstream.byFolder ? inFolders(manifests) : manifests,
    templates,
    installed: [
      ...definitions.flatMap((path) => objectsIn(readFileSync(path, "utf8")) ?? []),
      ...readable.filter((object) => isOf(upstream, object)),
    ],
  };
}

/** The manifests of a folder as one. */
function inFolders(manifests: readonly Manifest[]): Manifest[] {
  const folders = Map.groupBy(manifests, ({ file }) => dirname(file));
  // Of variants with the same name, the first counts.
  const unlike = (object: AnyObject, i: number, all: readonly AnyObject[]) =>
    all.findIndex(({ kind, metadata }) => kind === object.kind && metadata?.name === object.metadata?.name) === i;
  return [...folders].map(([file, parts]) => ({
    file,
    objects: parts.flatMap(({ objects }) => objects).filter(unlike),
  }));
}

/** Whether an object is of a kind of this project. */
export function isOf({ groups, kinds }: Upstream, { apiVersion = "", kind = "" }: AnyObject): boolean {
  return groups.includes(apiVersion.split("/")[0]!) && (kinds?.test(kind) ?? true);
}

function moduleFolder({ name, module }: Upstream): string {
  if (!module) throw new Error(`the manifests of ${name} are in its repository only: give a checkout with --from DIR`);
  return downloadModule(process.cwd(), module).Dir;
}

function yamlFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.ya?ml$/.test(file))
    .sort()
    .map((file) => join(folder, file));
}

/** Undefined if the text is not YAML, or its objects are not complete. */
function objectsIn(text: string): AnyObject[] | undefined {
  try {
    const documents = parseYaml(text).filter((document) => document !== null && document !== undefined) as AnyObject[];
    const objects = documents.flatMap((one) => (one.kind === "List" ? (one["items"] as AnyObject[]) : [one]));
    const areObjects = objects.every(
      ({ kind, apiVersion }) => typeof kind === "string" && typeof apiVersion === "string",
    );
    return areObjects ? objects : undefined;
  } catch {
    return undefined;
  }
}
