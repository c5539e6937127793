import { type Api, controllerConstant, fileName, operatorConstant } from "./names.ts";

/** Text by path, relative to the project. */
export type NewFiles = ReadonlyMap<string, string>;

/** The files of one API: its kind and controller, their tests, and a sample. */
export function apiFiles(api: Api, project: string): NewFiles {
  const file = fileName(api.kind);
  return new Map([
    [`src/${file}.ts`, source(api)],
    [`src/${file}.test.ts`, tests(api, project)],
    [`samples/${file}.yaml`, sample(api)],
  ]);
}

/** Imports of names from files of the project, in the order of the files, as formatters sort them. */
export function ownImports(...imports: readonly (readonly [names: string, file: string])[]): string {
  const sorted = imports.toSorted(([, a], [, b]) => (a < b ? -1 : 1));
  return sorted.map(([names, file]) => `import { ${names} } from "./${file}.ts";\n`).join("");
}

function source({ group, version, kind }: Api): string {
  const lower = kind.toLowerCase();
  return `import { conditionColumn, controller, defineKind, type ObjectOf, z } from "konverge";
import { ConfigMap } from "konverge/kinds";

/** The kind: this definition gives its TypeScript type, its CRD and its validation. */
export const ${kind} = defineKind({
  group: "${group}",
  kind: "${kind}",
  versions: {
    ${version}: {
      spec: z.object({ text: z.string().min(1) }),
      status: z.object({ text: z.string().optional() }),
      columns: { Text: ".spec.text", Ready: conditionColumn("Ready") },
    },
  },
});
export type ${kind} = ObjectOf<typeof ${kind}>;

/**
 * The controller: for each ${kind} it returns the children that should exist, and the status to report. It is called again
 * whenever the object or one of its children changes; the runtime applies, repairs and deletes the children.
 */
export const ${controllerConstant(kind)} = controller(${kind}, {
  owns: [ConfigMap],
  reconcile({ metadata, spec }) {
    const name = \`${lower}-\${metadata.name}\`;
    const child = ConfigMap.draft({ metadata: { name }, data: { text: spec.text } });
    return { children: [child], status: { text: spec.text } };
  },
});
`;
}

function tests({ kind }: Api, project: string): string {
  const lower = kind.toLowerCase();
  const operator = operatorConstant(project);
  return `import { test } from "node:test";
import { assertNoFindings, explore, runScenario, type Scenario } from "@konverge/dev";
import { ConfigMap } from "konverge/kinds";
${ownImports([operator, "operator"], [kind, fileName(kind)])}
/** A ${kind} is created, and gets its ConfigMap. */
const converges: Scenario = async (environment) => {
  await environment.start(${operator});
  await environment.apply(${kind}.new({ metadata: { name: "sample" }, spec: { text: "hello" } }));
  await environment.until("the ConfigMap has the text", async () => {
    return (await environment.find(ConfigMap, "${lower}-sample"))?.data?.text === "hello";
  });
  await environment.until("the status has the text", async () => {
    return (await environment.get(${kind}, "sample")).status?.text === "hello";
  });
};

test("a ${kind} gets a ConfigMap with its text", () => runScenario(converges));

test("it converges whatever fault happens at whichever point", async () => {
  const faults = ["crash", "error", "stale", "watch", "deletion", "drift"] as const;
  assertNoFindings(await explore(converges, { faults, kinds: [${kind}], runs: 40 }));
});
`;
}

function sample({ group, version, kind }: Api): string {
  return `apiVersion: ${group}/${version}
kind: ${kind}
metadata:
  name: sample
spec:
  text: hello
`;
}
