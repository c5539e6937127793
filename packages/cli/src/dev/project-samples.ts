import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Client } from "@konverge/client";
import { isNotFound, type KubeObject } from "@konverge/core";
import { parseYaml } from "@konverge/schema";

/** The objects of a folder of samples, applied; what cannot be is reported by file. */
export async function applySamples(
  client: Client,
  folder: string,
  report: (file: string, error: unknown) => void,
): Promise<void> {
  if (!existsSync(folder)) return;
  for (const file of globSync("**/*.{yaml,yml,json}", { cwd: folder }).sort()) {
    try {
      for (const object of parseYaml(readFileSync(join(folder, file), "utf8"))) {
        if (object !== null) await apply(client, object as KubeObject);
      }
      report(file, undefined);
    } catch (error) {
      report(
        file,
        new Error(`${join(basename(folder), file)}: ${error instanceof Error ? error.message : String(error)}`),
      );
    }
  }
}

async function apply(client: Client, object: KubeObject): Promise<void> {
  const kind = await client.mapper
    .resolve({ apiVersion: object.apiVersion ?? "", kind: object.kind ?? "" })
    .catch((error: unknown) => {
      if (isNotFound(error)) throw new Error(`the cluster has no kind ${object.kind} of ${object.apiVersion}`);
      throw error;
    });
  const namespace = kind.namespaced ? { namespace: object.metadata.namespace ?? "default" } : {};
  const metadata = { ...object.metadata, ...namespace };
  await client.apply(kind, { ...object, metadata } as never, { fieldManager: "konverge-dev", force: true });
}
