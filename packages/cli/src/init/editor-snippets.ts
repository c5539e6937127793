/** Where VS Code looks for the snippets of a project. */
export const SNIPPETS = ".vscode/konverge.code-snippets";

/** A part of an operator that is written again and again, with the places to fill in as VS Code writes them: `${1:name}`. */
interface Snippet {
  readonly prefix: string;
  readonly description: string;
  readonly body: string;
}

const snippets: Readonly<Record<string, Snippet>> = {
  "Konverge kind": {
    prefix: "konverge-kind",
    description: "a kind: its types, its CRD and its validation",
    body: `import { conditionColumn, defineKind, type ObjectOf, z } from "konverge";

/** \${4:What one of these is.} */
export const \${1:Kind} = defineKind({
  group: "\${2:example.com}",
  kind: "$1",
  versions: {
    \${3:v1alpha1}: {
      spec: z.object({ \${5:size}: z.int().min(0).default(1) }),
      status: z.object({}),
      columns: { Ready: conditionColumn("Ready") },
    },
  },
});
export type $1 = ObjectOf<typeof $1>;
$0`,
  },
  "Konverge controller": {
    prefix: "konverge-controller",
    description: "a controller that returns children",
    body: `import { controller } from "konverge";
import { \${3:ConfigMap} } from "konverge/kinds";
import { \${1:Kind} } from "./\${2:kind}.ts";

export const \${2}Controller = controller($1, {
  owns: [$3],
  reconcile({ metadata, spec }) {
    const child = $3.draft({ metadata: { name: metadata.name } });
    return { children: [child] };
  },
});
$0`,
  },
  "Konverge cleanup": {
    prefix: "konverge-cleanup",
    description: "what to remove before an object is deleted: the runtime adds and removes the finalizer",
    body: `async cleanup({ metadata }, { signal }) {
  $0
},`,
  },
  "Konverge scenario": {
    prefix: "konverge-scenario",
    description: "a test with a scenario, and the same scenario with faults",
    body: `import { test } from "node:test";
import { assertNoFindings, explore, runScenario, type Scenario } from "@konverge/dev";
import { \${1:Kind} } from "./\${2:kind}.ts";
import { \${3:myOperator} } from "./operator.ts";

const scenario: Scenario = async (environment) => {
  await environment.start($3);
  await environment.apply($1.new({ metadata: { name: "sample" }, spec: { $4 } }));
  await environment.until("\${5:it is ready}", async () => {
    return (await environment.get($1, "sample")).status?.conditions?.some(
      ({ type, status }) => type === "Ready" && status === "True",
    ) ?? false;
  });
};

test("\${6:it converges}", () => runScenario(scenario));

test("it converges whatever fault happens at whichever point", async () => {
  assertNoFindings(await explore(scenario, { kinds: [$1], runs: 40 }));
});
$0`,
  },
  "Konverge permission": {
    prefix: "konverge-permission",
    description: "what a controller does by context.client, for its generated role",
    body: `permissions: [permission(\${1:Secret}, ["\${2:get}"])],$0`,
  },
};

/** The snippets as VS Code reads them, for TypeScript files. */
export function editorSnippets(): string {
  const entries = Object.entries(snippets).map(([name, { body, ...rest }]) => [
    name,
    { scope: "typescript", ...rest, body: body.split("\n") },
  ]);
  return `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`;
}
