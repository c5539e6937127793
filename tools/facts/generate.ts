import { findControlPlane } from "@konverge/real";
import { readGoFacts } from "./go-facts.ts";
import { mergeDefinitions } from "./merge.ts";
import { mergeResources } from "./resources.ts";
import { readServerFacts } from "./server-facts.ts";
import { definitionFiles, resourcesFile } from "./write-data.ts";
import { entryFiles } from "./write-entries.ts";
import { typeFiles } from "./write-types.ts";

/** The whole output, by path below packages/kinds. Deterministic: the same Kubernetes gives the same bytes. */
export async function generateFacts(): Promise<Map<string, string>> {
  const plane = findControlPlane();
  if (!plane.available) throw new Error(plane.why);
  const server = await readServerFacts();
  const go = readGoFacts(plane.kubernetes, server);
  const definitions = mergeDefinitions(server, go);
  const resources = mergeResources(server, go);
  const types = typeFiles(definitions, resources);
  return new Map([
    ["data/resources.json", resourcesFile(plane.kubernetes, resources)],
    ...definitionFiles(definitions),
    ...types,
    ...entryFiles(new Map(types)),
  ]);
}
