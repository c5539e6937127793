import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { parseScenario, readScenario } from "./scenario-file.ts";
import { ScenarioError } from "./scenario-node.ts";

const step = "steps:\n- delete: widget/web\n";

test("a scenario is read with its steps, its conditions and the files it names", () => {
  const folder = mkdtempSync(join(tmpdir(), "konverge-scenario-"));
  try {
    writeFileSync(join(folder, "b.yaml"), "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n---\n{kind: X}\n");
    writeFileSync(join(folder, "a.yaml"), "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n");
    writeFileSync(
      join(folder, "story.yaml"),
      `name: story
namespace: test
setup: ["?.yaml"]
steps:
- apply: [a.yaml, {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}]
- wait: {for: widget/web, condition: Ready, timeout: 5s}
- wait: {for: widget/other/web, condition: Ready=False}
- wait: {for: widget/web, expression: "object.status.ready == 3"}
- wait: {for: widget/web, deleted: true}
- wait: idle
- patch: {target: widget/web, merge: {spec: {size: 2}}, subresource: status}
- delete: widget/web
- pause: 500ms
invariants:
- always: "objects.size() < 5"
- {name: last, eventually: "objects.exists(o, o.kind == 'Pod')"}
`,
    );
    const { setup, steps, invariants, namespace } = readScenario(join(folder, "story.yaml"));
    assert.equal(namespace, "test");
    assert.deepEqual(
      setup.map(({ metadata }) => metadata?.name),
      ["a", "b", undefined],
    );
    assert.deepEqual(
      steps.map(({ type }) => type),
      ["apply", "wait", "wait", "wait", "wait", "wait-idle", "patch", "delete", "pause"],
    );
    assert.deepEqual(steps[1], {
      type: "wait",
      target: "widget/web",
      until: { condition: "Ready", status: "True" },
      timeout: 5000,
    });
    assert.deepEqual(steps[8], { type: "pause", ms: 500 });
    assert.deepEqual(
      invariants.map(({ name, when }) => [name, when]),
      [
        ["objects.size() < 5", "always"],
        ["last", "eventually"],
      ],
    );
    assert.equal(invariants[1]!.condition.check({ objects: [{ kind: "Pod" }] }).holds, true);
    assert.match(invariants[1]!.condition.check({ objects: [{}] }).error!, /no such key: kind/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

for (const [text, problem] of [
  ["steps: [", /^story\.yaml:\d+:\d+: yaml: /],
  ["a: 1", /^story\.yaml:1:4: a: unknown field; there are name, namespace/],
  ["name: x", /^story\.yaml:1:1: the field steps is missing/],
  ["steps: []", /^story\.yaml:1:8: steps: a scenario needs one step or more/],
  [
    "steps:\n- jump: high",
    /^story\.yaml:2:3: steps\[0\]: a step has one of apply, patch, delete, wait, pause, not jump/,
  ],
  [
    `${step}- pause: soon`,
    /^story\.yaml:3:10: steps\[1\]\.pause: must be a duration such as 500ms, 2s or 1m, not "soon"/,
  ],
  [`${step}- delete: web`, /^story\.yaml:3:11: steps\[1\]\.delete: must be RESOURCE\/NAME/],
  [
    `${step}- wait: {for: widget/web}`,
    /^story\.yaml:3:9: steps\[1\]\.wait: needs one of condition, expression and deleted/,
  ],
  [
    `${step}- wait: {for: widget/web, expression: "object.x +"}`,
    /^story\.yaml:3:39: steps\[1\]\.wait\.expression: compilation failed: ERROR: <input>:1:11: Syntax error/,
  ],
  [`${step}- apply: none.yaml`, /^story\.yaml:3:10: steps\[1\]\.apply: no file is named none\.yaml/],
  [
    `${step}- apply: {kind: Pod}`,
    /^story\.yaml:3:10: steps\[1\]\.apply: an object needs apiVersion, kind and metadata\.name/,
  ],
  [`${step}invariants:\n- always: "objects.size()"`, /invariants\[0\]\.always: must evaluate to bool but got int/],
  [`${step}invariants:\n- name: x`, /^story\.yaml:4:3: invariants\[0\]: needs either always or eventually/],
  [`${step}${step}`, /^story\.yaml: line 4: key "steps" already set in map/],
] as const) {
  test(`a scenario that is wrong is refused with the place: ${JSON.stringify(text)}`, () => {
    assert.throws(
      () => parseScenario(text, "story.yaml"),
      (error: unknown) => {
        assert.ok(error instanceof ScenarioError, String(error));
        assert.match(error.message, problem);
        return true;
      },
    );
  });
}
