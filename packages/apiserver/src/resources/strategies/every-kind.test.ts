import assert from "node:assert/strict";
import { test } from "node:test";
import { apiVersionOf } from "@konverge/core";
import { builtinResources } from "@konverge/kinds";
import { registerBuiltins } from "../../bootstrap/builtin-resources.ts";
import type { Strategy } from "../definition.ts";
import { Registry } from "../registry.ts";

const registry = new Registry();
registerBuiltins(registry);

type Resource = ReturnType<typeof builtinResources>[number];

/** The kinds that are stored and lack something, with their apiVersion. */
function kindsWithout(part: keyof Strategy, concerns: (resource: Resource) => boolean = () => true): string[] {
  return builtinResources()
    .filter(({ verbs }) => verbs.includes("create") && verbs.includes("get"))
    .filter((resource) => concerns(resource) && !registry.get(resource.group, resource.plural)!.strategy[part])
    .map((resource) => `${apiVersionOf(resource)} ${resource.kind}`);
}

test("every built-in kind validates its objects", () => {
  assert.deepEqual(kindsWithout("validate"), []);
});

test("every built-in kind with a status validates writes to it", () => {
  const hasStatus = ({ subresources }: Resource) => subresources.some(({ name }) => name === "status");
  assert.deepEqual(kindsWithout("validateStatusUpdate", hasStatus), []);
});
