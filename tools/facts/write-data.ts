import type { DefinitionFact, ResourcesFile } from "../../packages/kinds/src/fact-types.ts";
import { fileOf } from "../../packages/kinds/src/type-name.ts";

/** One JSON file per group-version, so that who needs apps/v1 parses little else; one definition a line, for diffs. */
export function definitionFiles(definitions: Record<string, DefinitionFact>): [path: string, text: string][] {
  const files = new Map<string, string[]>();
  for (const [name, fact] of Object.entries(definitions)) {
    const file = fileOf(name);
    const lines = files.get(file) ?? [];
    files.set(file, lines);
    lines.push(`${JSON.stringify(name.slice(file.length + 1))}:${JSON.stringify(fact)}`);
  }
  return [...files].map(([file, lines]) => [`data/${file}.json`, `{\n${lines.join(",\n")}\n}\n`]);
}

/** One resource a line. */
export function resourcesFile(kubernetes: string, groups: ResourcesFile["groups"]): string {
  const text = groups.map(({ group, versions }) => {
    const inner = versions.map(({ version, resources }) => {
      const lines = resources.map((resource) => JSON.stringify(resource));
      return `{"version":${JSON.stringify(version)},"resources":[\n${lines.join(",\n")}\n]}`;
    });
    return `{"group":${JSON.stringify(group)},"versions":[${inner.join(",")}]}`;
  });
  return `{"kubernetes":${JSON.stringify(kubernetes)},"groups":[\n${text.join(",\n")}\n]}\n`;
}
