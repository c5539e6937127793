import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Deployment, PolicyRule } from "@konverge/kinds";
import { operators } from "@konverge/operators";
import { parseYaml } from "@konverge/schema";
import { greetingOperator } from "../../test/greeting-operator.ts";
import { DEFAULT_IMAGE } from "./defaults.ts";
import { manifestFiles } from "./files.ts";
import { lineDifferences } from "./line-differences.ts";
import { operatorObjects, partsOf } from "./operator-objects.ts";
import { reasonFor } from "./reasons.ts";
import { manifestDifferences, writeManifests } from "./write-manifests.ts";

const options = { namespace: "default", image: DEFAULT_IMAGE };

test("the same operators give the same text, and every file can be read back", () => {
  const files = manifestFiles([greetingOperator], options);
  assert.deepEqual([...manifestFiles([greetingOperator], options)], [...files]);
  for (const [path, text] of files) assert.ok(parseYaml(text.split("\n---\n")[0]!), path);
  const role = files.get("greeting-operator/role.yaml")!;
  assert.match(role, /# Looks after each Greeting\.\n- apiGroups:\n {2}- test\.example\.com\n/);
  assert.match(role, /# Keeps the certificates of its webhooks\.\n/);
  assert.match(role, /# Keeps its admission webhooks registered\.\n/);
});

test("every rule of every operator has a reason that says more than that it is used", () => {
  for (const operator of [...operators, greetingOperator]) {
    const parts = partsOf(operator);
    for (const role of operatorObjects(operator, options).roles) {
      for (const rule of (role as { rules?: PolicyRule[] }).rules ?? []) {
        const reason = reasonFor(rule, operator.name, parts);
        assert.doesNotMatch(reason, /in its own code/, `${operator.name}: ${JSON.stringify(rule)}`);
      }
    }
  }
});

test("an operator runs as nobody, on a file system that it cannot write to, under its own account", () => {
  const deployment = operatorObjects(greetingOperator, options).deployment as Deployment;
  const { spec } = deployment.spec!.template;
  const [container] = spec!.containers;
  assert.equal(container!.name, "operator");
  assert.equal(deployment.spec!.template.metadata!.labels!["app"], "greeting-operator");
  assert.equal(spec!.serviceAccountName, "greeting-operator");
  assert.equal(spec!.securityContext!.runAsNonRoot, true);
  assert.equal(container!.securityContext!.readOnlyRootFilesystem, true);
  assert.ok(container!.livenessProbe && container!.readinessProbe && container!.resources?.requests);
  assert.deepEqual(
    container!.env!.find(({ name }) => name === "GREETING_WORD"),
    { name: "GREETING_WORD", value: "Hello" },
  );
});

test("an operator whose name is no name of a folder is refused", () => {
  const misnamed = { ...greetingOperator, name: "../../evil" };
  assert.throws(
    () => manifestFiles([misnamed], options),
    /^UsageError: operator "..\/..\/evil" cannot be used as a name/,
  );
});

test("a folder that is not up to date is shown, line by line, and put right", () => {
  const folder = mkdtempSync(join(tmpdir(), "konverge-manifests-"));
  try {
    const files = manifestFiles([greetingOperator], options);
    assert.equal(writeManifests(folder, files).changed.length, files.size);
    assert.deepEqual(manifestDifferences(folder, files), []);
    const path = join(folder, "greeting-operator/deployment.yaml");
    writeFileSync(path, readFileSync(path, "utf8").replace("replicas: 1", "replicas: 7"));
    writeFileSync(join(folder, "old.yaml"), "# Written by `konverge manifests`.\n");
    writeFileSync(join(folder, "mine.yaml"), "a: 1\n");
    const [changed, left, ...more] = manifestDifferences(folder, files);
    assert.match(
      changed!,
      /^greeting-operator\/deployment\.yaml: differs\n {2}- \d+: {3}replicas: 7\n {2}\+ \d+: {3}replicas: 1$/,
    );
    assert.equal(left, "old.yaml: no operator has it any more");
    assert.deepEqual(more, []);
    assert.deepEqual(writeManifests(folder, files), {
      changed: ["greeting-operator/deployment.yaml"],
      removed: ["old.yaml"],
    });
    assert.equal(readFileSync(join(folder, "mine.yaml"), "utf8"), "a: 1\n");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("differences show what goes and what comes", () => {
  assert.deepEqual(lineDifferences("a\nb\nc", "a\nc\nd"), ["- 2: b", "+ 3: d"]);
  assert.deepEqual(lineDifferences("same", "same"), []);
});
