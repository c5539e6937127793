import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { deepEqual, parseJson } from "@konverge/core";
import { parseYamlDocument } from "./parse-yaml.ts";
import { YamlError } from "./yaml-error.ts";

/** What Kubernetes' library made of generated texts (see test/generated/yaml/README.md). */
type Fixture = [text: string, outcome: { value?: string; strict?: string; error?: string }];

const fixtures = JSON.parse(
  readFileSync(new URL("../../test/generated/yaml/documents.json", import.meta.url), "utf8"),
) as Fixture[];

test("documents mean what they mean to Kubernetes, and are refused with its words", () => {
  assert.ok(fixtures.length > 500);
  for (const [text, { value, strict = "", error }] of fixtures) {
    if (error !== undefined) {
      assert.throws(
        () => parseYamlDocument(text),
        (thrown) => thrown instanceof YamlError && thrown.message === error,
        `${JSON.stringify(text)}: ${error}`,
      );
      continue;
    }
    const document = parseYamlDocument(text);
    assert.ok(deepEqual(document.value, parseJson(value!)), `${JSON.stringify(text)}: ${value}`);
    const problems = document.duplicates.map((line) => `\n  ${line}`).join("");
    assert.equal(problems === "" ? "" : `yaml: unmarshal errors:${problems}`, strict, JSON.stringify(text));
  }
});
