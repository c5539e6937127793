import { apiFiles, type NewFiles, ownImports } from "./api-files.ts";
import { apiList, LIST } from "./api-list.ts";
import { editorSnippets, SNIPPETS } from "./editor-snippets.ts";
import { type Api, fileName, operatorConstant } from "./names.ts";
import type { Packages } from "./packages.ts";

/** What a new project is made from. */
export interface Project {
  readonly name: string;
  readonly domain: string;
  /** Undefined: kinds are added later, by `konverge create api`. */
  readonly api?: Api | undefined;
  readonly packages: Packages;
  /** The user's Node is too old: the project has one among its packages. */
  readonly bringsNode: boolean;
}

/** The oldest Node that runs a project. */
export const NODE = 24;

/** All files of a new project, but the tarballs that it may bring. */
export function projectFiles(project: Project): NewFiles {
  const { name, api } = project;
  return new Map([
    ["package.json", manifest(project, api ? SCRIPTS : EMPTY_SCRIPTS)],
    ["tsconfig.json", TSCONFIG],
    [".gitignore", "node_modules/\n.konverge/\n"],
    [".dockerignore", "node_modules/\n.git/\n.konverge/\nconfig/\n"],
    [".nvmrc", `${NODE}\n`],
    ["Dockerfile", dockerfile(project)],
    ["Makefile", makefile(name)],
    [".github/workflows/ci.yaml", workflow(name)],
    [SNIPPETS, editorSnippets()],
    ["README.md", readme(project)],
    ["src/operator.ts", operatorSource(name)],
    [LIST, apiList({ kinds: api ? [api.kind] : [], admissions: [] })],
    ...(api ? [["src/start.ts", start(name, api)] as const, ...apiFiles(api, name)] : [emptyTest(name)]),
  ]);
}

export function manifest(
  { name, domain, packages, bringsNode }: Project,
  scripts: Readonly<Record<string, string>>,
): string {
  return `${JSON.stringify(
    {
      name,
      version: "0.1.0",
      private: true,
      type: "module",
      engines: { node: `>=${NODE}` },
      scripts,
      konverge: { operators: "./src/operator.ts", domain },
      dependencies: {
        konverge: packages.konverge,
        ...(packages.declarative !== undefined && { "@konverge/declarative": packages.declarative }),
      },
      devDependencies: {
        "@konverge/dev": packages.dev,
        "@types/node": packages.nodeTypes,
        ...(bringsNode && { node: `^${NODE}` }),
        typescript: packages.typescript,
      },
      ...(bringsNode && { allowScripts: { node: true } }),
    },
    undefined,
    2,
  )}\n`;
}

/** Those of every project. */
export const CHECK_AND_TEST = {
  check: "tsc",
  test: 'node --disable-warning=ExperimentalWarning --test "src/**/*.test.ts"',
};

const EMPTY_SCRIPTS = { dev: "konverge dev", ...CHECK_AND_TEST };
const SCRIPTS = { start: "node --disable-warning=ExperimentalWarning src/start.ts", ...EMPTY_SCRIPTS };

/** `erasableSyntaxOnly`: Node runs the sources as they are, so what cannot be removed by erasing types is an error. */
export const TSCONFIG = `{
  "compilerOptions": {
    "target": "esnext",
    "module": "nodenext",
    "types": ["node"],
    "noEmit": true,
    "strict": true,
    "noUncheckedIndexedAccess": true,
    "erasableSyntaxOnly": true,
    "verbatimModuleSyntax": true,
    "allowImportingTsExtensions": true,
    "skipLibCheck": true
  },
  "include": ["src"]
}
`;

function operatorSource(name: string): string {
  return `import { operator } from "konverge";
import { admissions, controllers, kinds } from "./apis.ts";

/** What \`npx konverge\` runs, installs and deploys. */
export const ${operatorConstant(name)} = operator({
  name: "${name}",
  description: "Describe in a sentence what this operator does.",
  kinds,
  create: () => ({ controllers, admissions }),
});
`;
}

/** The first thing that a user runs: it shows that all works, without a cluster, kubectl or a registry. */
function start(name: string, { kind }: Api): string {
  const lower = kind.toLowerCase();
  const operator = operatorConstant(name);
  return `// \`npm start\`: the operator on an embedded cluster in this process, with a sample.
import { runScenario } from "@konverge/dev";
import { ConfigMap } from "konverge/kinds";
${ownImports([operator, "operator"], [kind, fileName(kind)])}
await runScenario(async (environment) => {
  await environment.start(${operator});
  await environment.apply(${kind}.new({ metadata: { name: "sample" }, spec: { text: "hello" } }));
  await environment.until("the ConfigMap is there", async () => {
    return (await environment.find(ConfigMap, "${lower}-sample")) !== undefined;
  });
  const { data } = await environment.get(ConfigMap, "${lower}-sample");
  console.log(\`${kind} sample has converged: ConfigMap ${lower}-sample says \${data?.text}\`);
});
`;
}

/** Without a kind: a project has a test from the beginning, so that `npm test` and its CI workflow pass. */
function emptyTest(name: string): readonly [path: string, text: string] {
  const operator = operatorConstant(name);
  return [
    "src/operator.test.ts",
    `import { test } from "node:test";
import { runScenario } from "@konverge/dev";
import { ${operator} } from "./operator.ts";

test("the operator starts", () =>
  runScenario(async (environment) => {
    await environment.start(${operator});
  }));
`,
  ];
}

/** `folders`: what the operator reads besides its code. */
export function dockerfile({ packages }: Project, folders: readonly string[] = []): string {
  const vendor = packages.tarballs.length > 0 ? "COPY vendor vendor\n" : "";
  return `FROM node:${NODE}-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
${vendor}# Optional, too: the embedded cluster is for development.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-fund --no-audit
COPY src src
${folders.map((folder) => `COPY ${folder} ${folder}\n`).join("")}RUN find src -name '*.test.ts' -delete && rm -f src/start.ts

FROM gcr.io/distroless/nodejs${NODE}-debian12:nonroot
WORKDIR /app
COPY --from=build /app /app
ENV NODE_ENV=production NODE_COMPILE_CACHE=/app/compiled
# Compiled once, here, rather than by each container that starts.
USER 0
RUN ["/nodejs/bin/node", "/app/node_modules/konverge/bin/konverge.js", "operators"]
USER 65532:65532
EXPOSE 8080 8081 9443
ENTRYPOINT ["/nodejs/bin/node", "/app/node_modules/konverge/bin/konverge.js"]
CMD ["run"]
`;
}

export function makefile(name: string): string {
  const target = (names: string, help: string, command: string) =>
    `.PHONY: ${names.split(":")[0]}\n${names} ## ${help}\n\t${command}\n`;
  return `.DEFAULT_GOAL := help

# The image of the operator: make docker-build docker-push deploy IMG=registry.example.com/${name}:v1
IMG ?= ${name}:latest
# Where it is deployed.
NAMESPACE ?= ${name}
# More options for the command: make run ARGS="--log-level debug"
ARGS ?=
# Any tool that builds images as docker does: make docker-build CONTAINER_TOOL=podman
CONTAINER_TOOL ?= docker

.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-zA-Z_-]+:.*## / {printf "  %-14s %s\\n", $$1, $$2}' $(MAKEFILE_LIST)

${[
  target("test:", "Check types and run the tests", "npm run check && npm test"),
  target(
    "manifests:",
    "Write CRDs, roles, webhooks and the Deployment to config/",
    "npx konverge manifests --image $(IMG) --namespace $(NAMESPACE) $(ARGS)",
  ),
  target(
    "install:",
    "Install the kinds into the current cluster",
    "npx konverge install --namespace $(NAMESPACE) $(ARGS)",
  ),
  target(
    "uninstall:",
    "Remove the kinds, with all their objects (ARGS=--force)",
    "npx konverge uninstall --namespace $(NAMESPACE) $(ARGS)",
  ),
  target("run:", "Run the operator here, against the current cluster", "npx konverge run $(ARGS)"),
  target("docker-build:", "Build the image IMG", "$(CONTAINER_TOOL) build --tag $(IMG) ."),
  target("docker-push:", "Push the image IMG", "$(CONTAINER_TOOL) push $(IMG)"),
  target(
    "deploy:",
    "Install the operator as a Deployment of IMG into the current cluster",
    "npx konverge deploy --image $(IMG) --namespace $(NAMESPACE) $(ARGS)",
  ),
  target(
    "undeploy:",
    "Remove the Deployment and its roles; kinds and objects stay",
    "npx konverge undeploy --namespace $(NAMESPACE) $(ARGS)",
  ),
].join("\n")}`;
}

export function workflow(name: string): string {
  return `name: CI
on:
  push:
    branches: [main]
  pull_request:
permissions:
  contents: read
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with:
          node-version: ${NODE}
          cache: npm
      - run: npm ci
      - run: npm run check
      - run: npm test
      - run: make manifests
      - run: docker build --tag ${name}:ci .
`;
}

function readme({ name, api }: Project): string {
  const kind = api?.kind ?? "KIND";
  return `# ${name}

A Kubernetes operator in TypeScript, built with [Konverge](https://github.com/konverge/konverge). It needs Node ${NODE} or newer.

| command | what it does |
|---|---|
${api ? "| `npm start` | runs the operator with a sample on an embedded cluster, in one process |\n" : ""}| \`npm test\` | runs the tests; they crash the operator, fail its requests and edit its children |
| \`npm run dev\` | starts an embedded cluster, runs the operator on it with the samples, again after each change, and shows what happens |
| \`npm run check\` | checks types |
| \`npx konverge create api --group GROUP --version v1alpha1 --kind KIND\` | adds a kind with its controller, tests and a sample |
| \`npx konverge create version --kind ${kind} --version v1beta1\` | adds a version to a kind, with a conversion and its test |
| \`npx konverge create webhook --kind ${kind}\` | adds an admission webhook for a kind, with its test |
| \`make help\` | lists what builds the image and deploys it |

While \`npm run dev\` runs: \`kubectl --kubeconfig .konverge/kubeconfig get all\`

| file | what is in it |
|---|---|
| \`src/operator.ts\` | the operator: its name, kinds and controllers |
${api ? `| \`src/${fileName(kind)}.ts\` | the kind ${kind} and its controller |\n` : ""}| \`src/apis.ts\` | the list of kinds and controllers |
| \`samples/\` | objects to try; \`npm run dev\` applies them |
| \`${SNIPPETS}\` | snippets for VS Code: type \`konverge\` in a TypeScript file |

To deploy it on the cluster of your kubeconfig:

\`\`\`sh
make docker-build docker-push deploy IMG=registry.example.com/${name}:v1
\`\`\`
`;
}
