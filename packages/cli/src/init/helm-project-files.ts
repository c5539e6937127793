import type { NewFiles } from "./api-files.ts";
import type { ChartFile } from "./chart-file.ts";
import { type Api, fileName, operatorConstant } from "./names.ts";
import {
  CHECK_AND_TEST,
  dockerfile,
  makefile,
  manifest,
  NODE,
  type Project,
  TSCONFIG,
  workflow,
} from "./project-files.ts";

type HelmProject = Project & { readonly api: Api };

/** All files of a project whose operator is made of a chart, but the chart and the tarballs that it may bring. */
export function helmProjectFiles(project: HelmProject, chart: ChartFile): NewFiles {
  const { name, api } = project;
  const sample = `samples/${fileName(api.kind)}.yaml`;
  const scripts = {
    dev: "konverge dev",
    explore: `konverge explore src/operator.ts --objects ${sample}`,
    ...CHECK_AND_TEST,
  };
  return new Map([
    ["package.json", manifest(project, scripts)],
    ["tsconfig.json", TSCONFIG],
    [".gitignore", "node_modules/\n.konverge/\n"],
    [".dockerignore", "node_modules/\n.git/\n.konverge/\nconfig/\n"],
    [".nvmrc", `${NODE}\n`],
    ["Dockerfile", dockerfile(project, ["charts"])],
    ["Makefile", makefile(name)],
    [".github/workflows/ci.yaml", workflow(name)],
    ["README.md", readme(project, chart, sample)],
    ["src/operator.ts", operatorSource(project, chart)],
    ["src/operator.test.ts", testSource(project, sample)],
    [sample, sampleSource(project)],
  ]);
}

function operatorSource({ name, api: { group, version, kind } }: HelmProject, { target }: ChartFile): string {
  return `import { fileURLToPath } from "node:url";
import { helmOperator } from "@konverge/declarative";

/** What \`npx konverge\` runs, installs and deploys: each ${kind} is a release of the chart. */
export const ${operatorConstant(name)} = helmOperator({
  name: "${name}",
  chart: fileURLToPath(new URL("../${target}", import.meta.url)),
  group: "${group}",
  version: "${version}",
  kind: "${kind}",
});
`;
}

function sampleSource({ api: { group, version, kind } }: HelmProject): string {
  return `apiVersion: ${group}/${version}
kind: ${kind}
metadata:
  name: sample
# Values of the chart.
spec: {}
`;
}

function testSource({ name, api: { kind } }: HelmProject, sample: string): string {
  const operator = operatorConstant(name);
  return `import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { runScenario, type Scenario } from "@konverge/dev";
import { parseYaml } from "konverge/schema";
import { ${operator} } from "./operator.ts";

const [kind] = ${operator}.kinds;
assert.ok(kind);

const scenario: Scenario = async (environment) => {
  await environment.start(${operator});
  const [sample] = parseYaml(readFileSync("${sample}", "utf8"));
  await environment.apply(sample as object);
  await environment.until("the ${kind} is ready", async () => {
    const { status } = (await environment.get(kind, "sample")) as { status?: { conditions?: Condition[] } };
    return status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
  });
};

// Which images the chart uses is not known here: all are taken for ones that run.
test("the sample becomes ready", () => runScenario(scenario, { strictImages: false }));

interface Condition {
  readonly type: string;
  readonly status: string;
}
`;
}

function readme({ name, api: { kind } }: HelmProject, { target }: ChartFile, sample: string): string {
  return `# ${name}

A Kubernetes operator made of the Helm chart in \`${target}\`, built with [Konverge](https://github.com/konverge/konverge). Each ${kind} is a
release of the chart, and its \`spec\` the chart's values. It needs Node ${NODE} or newer.

| command | what it does |
|---|---|
| \`npm run dev\` | starts an embedded cluster, runs the operator on it with the sample, again after each change, and shows what happens |
| \`npm test\` | runs the tests |
| \`npm run explore\` | crashes the operator, fails its requests, changes what it made, and tries other values |
| \`npm run check\` | checks types |
| \`make help\` | lists what builds the image and deploys it |

\`${sample}\` is the sample; \`src/operator.ts\` names the chart and the kind.
`;
}
