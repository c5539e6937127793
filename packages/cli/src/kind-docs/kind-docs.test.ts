import assert from "node:assert/strict";
import { test } from "node:test";
import { operators } from "@konverge/operators";
import { operator } from "@konverge/runtime";
import { defineKind, z } from "@konverge/schema";
import { greetingOperator } from "../../test/greeting-operator.ts";
import { cell, fieldRows, typeName } from "./field-rows.ts";
import { kindPages } from "./kind-pages.ts";

const Oven = defineKind({
  group: "test.example.com",
  kind: "Oven",
  versions: {
    v1: {
      spec: z.object({
        degrees: z.int().min(0).max(300).default(180).describe("How hot | in Celsius."),
        trays: z.array(z.object({ name: z.string().min(1), cakes: z.int().optional() })).max(3),
      }),
    },
  },
});
const baker = operator({ name: "baker", description: "Bakes.", kinds: [Oven], create: () => ({ controllers: [] }) });

test("a page has every field with its type, its default and what is checked", () => {
  const page = kindPages([baker]).get("oven.md")!;
  const lines = page.split("\n");
  const has = (line: string) => assert.ok(lines.includes(line), `${line}\nis not in\n${page}`);
  has("# Oven");
  has("## test.example.com/v1");
  has("| `spec.degrees` | integer | How hot \\| in Celsius. Default: `180`. At least 0; at most 300. |");
  has("| `spec.trays` | []object | Required. At most 3 items. |");
  has("| `spec.trays[].name` | string | Required. At least 1 character. |");
  has("| `spec.trays[].cakes` | integer |  |");
});

test("the same operators give the same pages, and the list leads to each", () => {
  const pages = kindPages(operators);
  assert.deepEqual([...kindPages(operators)], [...pages]);
  const list = pages.get("README.md")!;
  for (const [file, text] of pages) {
    if (file !== "README.md") assert.ok(list.includes(`(${file})`), file);
    // Every row of a table has the columns of its table: no bar in a pattern ends a cell.
    for (const row of text.split("\n").filter((line) => /^\| `(spec|status)/.test(line)))
      assert.equal(row.match(/(?<!\\)\|/g)?.length, 4, row);
  }
});

test("every version has its section", () => {
  const page = kindPages([greetingOperator]).get("greeting.md")!;
  assert.match(
    page,
    /## test\.example\.com\/v1\n.*stored.*`spec\.to`.*## test\.example\.com\/v1alpha1\n.*`spec\.whom`/s,
  );
});

test("types and checks are in words", () => {
  assert.equal(
    typeName({ type: "object", additionalProperties: { type: "array", items: { type: "string" } } }),
    "map[string][]string",
  );
  const rule = { "x-kubernetes-validations": [{ rule: "self.a < 2 || self.b", message: "too much" }] };
  assert.deepEqual(fieldRows({ type: "object", ...rule, enum: ["a"] } as never, "spec"), [
    '| `spec` | object | One of `"a"`; `self.a < 2 \\|\\| self.b` must be true ("too much"). |',
  ]);
  assert.equal(cell("a <b> `<c>`"), "a &lt;b> `<c>`");
});
