// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the expressions of graphs look like templates
import assert from "node:assert/strict";
import { test } from "node:test";
import { compileGraph, GraphError, graphsFromYaml, kindsOf } from "@konverge/declarative";
import { WEB_APP } from "./web-app.ts";

/** The mistakes in the graph of a web app after a change of its text. */
function mistakesAfter(...changes: [from: string, to: string][]): string[] {
  let yaml = WEB_APP;
  for (const [from, to] of changes) {
    assert.ok(yaml.includes(from), from);
    yaml = yaml.replace(from, to);
  }
  try {
    compileGraph(graphsFromYaml(yaml)[0]!, kindsOf([]));
    return [];
  } catch (error) {
    assert.ok(error instanceof GraphError);
    return error.mistakes.map(({ path, message }) => `${path}: ${message}`);
  }
}

test("a graph without mistakes has its nodes in the order of what they read", () => {
  const graph = compileGraph(graphsFromYaml(WEB_APP)[0]!, kindsOf([]));
  assert.deepEqual(
    graph.nodes.map(({ id, dependencies }) => [id, dependencies]),
    [
      ["deployment", []],
      ["service", ["deployment"]],
      ["settings", []],
    ],
  );
  const { properties } = graph.definition.spec!.versions![0]!.schema!.openAPIV3Schema as never as {
    properties: Record<string, { properties: Record<string, object> }>;
  };
  assert.deepEqual(properties["spec"], {
    type: "object",
    required: ["name"],
    properties: {
      name: { type: "string" },
      image: { type: "string", default: "nginx:1.29" },
      replicas: { type: "integer", default: 2, minimum: 1, maximum: 5 },
      expose: { type: "boolean", default: true },
      settings: { type: "array", items: { type: "string" } },
    },
  });
  assert.deepEqual(properties["status"]!.properties["available"], { type: "integer" });
  assert.deepEqual(properties["status"]!.properties["text"], { type: "string" });
});

for (const [what, change, expected] of [
  [
    "a field that the kind does not have",
    ["replicas: ${schema.spec.replicas}", "replica: ${schema.spec.replicas}"],
    /template\.spec\.replica: there is no such field/,
  ],
  [
    "an expression of another type",
    ["replicas: ${schema.spec.replicas}", "replicas: ${schema.spec.name}"],
    /resources\[1\]\.template\.spec\.replicas: \$\{schema\.spec\.name\} returns string but expected integer/,
  ],
  [
    "a number in a text",
    ["name: ${schema.spec.name}-${setting}", "name: x-${schema.spec.replicas}-${setting}"],
    /\$\{schema\.spec\.replicas\} returns int but expected string/,
  ],
  [
    "a field that is not in the spec",
    ["image: ${schema.spec.image}", "image: ${schema.spec.picture}"],
    /undefined field 'picture'/,
  ],
  [
    "an unknown resource",
    ["app: ${schema.spec.name}\n          template", "app: ${nothing.metadata.name}\n          template"],
    /undeclared reference to 'nothing'/,
  ],
  [
    "a cycle",
    [
      "name: ${schema.spec.name}\n        spec:\n          replicas",
      "name: ${service.metadata.name}\n        spec:\n          replicas",
    ],
    /depend on each other in a cycle: (service → deployment → service|deployment → service → deployment)/,
  ],
  [
    "a kind that is not installed",
    ["apiVersion: apps/v1\n        kind: Deployment", "apiVersion: apps/v1\n        kind: Deploy"],
    /resources\[1\]\.template: there is no kind Deploy in apps\/v1: install its CustomResourceDefinition/,
  ],
  [
    "an unknown marker",
    ["minimum=1", "least=1"],
    /spec\.schema\.spec\.replicas: there is no marker least: the markers are required/,
  ],
  [
    "an unknown type",
    ['settings: "[]string"', 'settings: "[]text"'],
    /spec\.schema\.spec\.settings: there is no type text/,
  ],
  [
    "a collection of objects with one name",
    ["name: ${schema.spec.name}-${setting}", "name: ${schema.spec.name}"],
    /metadata\.name does not depend on setting/,
  ],
  [
    "a condition that is no bool",
    ["- ${schema.spec.expose}", "- ${schema.spec.name}"],
    /includeWhen\[0\]: \$\{schema\.spec\.name\} returns string but expected boolean/,
  ],
  [
    "a readyWhen about others",
    ["deployment.status.availableReplicas == deployment.spec.replicas", "schema.spec.replicas == 1"],
    /readyWhen is about the resource itself/,
  ],
  ["a reserved id", ["id: settings", "id: items"], /resources\[2\]\.id: items is reserved/],
  [
    "a status without expressions",
    ["available: ${deployment.status.availableReplicas}", "available: yes"],
    /spec\.schema\.status\.available: must have an expression/,
  ],
] as [string, [string, string], RegExp][]) {
  test(`reported with its place: ${what}`, () => {
    const mistakes = mistakesAfter(change);
    assert.ok(
      mistakes.some((mistake) => expected.test(mistake)),
      `${mistakes.join("\n")} does not match ${expected}`,
    );
  });
}
