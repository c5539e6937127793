import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { go, writeKubernetesModule } from "@konverge/real/go-module.ts";
import type { ServerFacts } from "./server-facts.ts";

export interface GoField {
  name: string;
  type: string;
  proto?: number[];
  wire?: string;
  omitEmpty?: boolean;
  omitZero?: boolean;
  pointer?: boolean;
  patchStrategy?: string;
  patchMergeKey?: string;
}

export interface GoDefinition {
  fields?: GoField[];
  custom?: boolean;
}

/** One outcome of defaulting at a place that was left unset; null when it stayed so, "now" for any time. */
export interface Observation {
  value: unknown;
  count: number;
}

export interface GoKind {
  group: string;
  version: string;
  kind: string;
  definition: string;
  defaults?: Record<string, Observation[]>;
  selectable?: string[];
}

/** What the program in go/ prints. */
export interface GoFacts {
  kinds: GoKind[];
  definitions: Record<string, GoDefinition>;
  /** By definition and field: `core.v1.PodSpec.dnsPolicy`. */
  defaults: Record<string, Observation[]>;
}

/** The default of a place that always gets the same one, whatever else the object says. */
export function plainDefault(outcomes: Observation[] | undefined): { value: unknown } | undefined {
  const [only, ...others] = outcomes ?? [];
  return only && others.length === 0 && only.value !== "now" ? { value: only.value } : undefined;
}

/** Builds the Go program against the module of the same Kubernetes version and runs it. */
export function readGoFacts(kubernetes: string, server: ServerFacts): GoFacts {
  const folder = mkdtempSync(join(tmpdir(), "konverge-facts-"));
  try {
    cpSync(fileURLToPath(new URL("./go/", import.meta.url)), folder, { recursive: true });
    writeKubernetesModule(folder, kubernetes);
    go(folder, ["build", "-trimpath", "-o", "facts", "."]);
    const run = spawnSync(join(folder, "facts"), {
      input: JSON.stringify({ groupVersions: servedGroupVersions(server), enums: publishedEnums(server) }),
      encoding: "utf8",
      maxBuffer: 1 << 28,
    });
    if (run.status !== 0) throw new Error(`the Go program failed: ${run.stderr}`);
    return JSON.parse(run.stdout) as GoFacts;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function servedGroupVersions(server: ServerFacts): string[] {
  return server.groups.flatMap(({ metadata, versions }) =>
    versions.map(({ version }) => (metadata.name ? `${metadata.name}/${version}` : version)),
  );
}

function publishedEnums(server: ServerFacts): Record<string, string[]> {
  const enums: Record<string, string[]> = {};
  for (const [definition, schema] of Object.entries(server.schemas)) {
    for (const [field, node] of Object.entries(schema.properties ?? {})) {
      const values = node.enum ?? node.items?.enum ?? node.additionalProperties?.enum;
      if (values) enums[`${definition}.${field}`] = values;
    }
  }
  return enums;
}
