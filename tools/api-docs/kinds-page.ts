import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type EntryPoint, valuesOf } from "./entry-points.ts";

interface KindHandle {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** Entry points that have nothing but kinds of Kubernetes, which the Kubernetes API reference describes. */
export const isKindsEntry = ({ specifier }: EntryPoint) => /^konverge\/kinds(\/|$)/.test(specifier);

/** The page of such an entry point: a table of its kinds. */
export async function kindsPage(entryPoint: EntryPoint): Promise<string> {
  const { specifier, comment, file, names } = entryPoint;
  const module = (await import(pathToFileURL(resolve(file)).href)) as Record<string, KindHandle>;
  const rows = valuesOf(entryPoint).map(({ name }) => {
    const { group, version, namespaced } = module[name]!;
    const apiVersion = group === "" ? version : `${group}/${version}`;
    return `| ${name} | ${apiVersion} | ${namespaced ? "Namespaced" : "Cluster"} |`;
  });
  const example = valuesOf(entryPoint)[0]!.name;
  return [
    `# ${specifier}`,
    "",
    comment,
    "",
    "```ts",
    `import { ${example} } from "${specifier}";`,
    "```",
    "",
    "| kind | apiVersion | scope |",
    "|---|---|---|",
    ...rows,
    "",
    `A kind is a value, for the verbs of the client and the declarations of controllers, and the type of its objects. The other`,
    `${names.length - rows.length} names are types of fields.`,
    "",
  ].join("\n");
}
