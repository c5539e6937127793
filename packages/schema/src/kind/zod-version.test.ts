import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import * as own from "zod";
import { listSet } from "./annotations.ts";
import { defineKind } from "./define-kind.ts";

const define = (spec: object) =>
  defineKind({ group: "example.com", kind: "Thing", versions: { v1: { spec: spec as never } } });

test("a schema of Zod 3 in a definition is an error that says so", () => {
  assert.throws(
    () => define({ _def: {} }),
    /spec: is a schema of Zod 3: create it with Zod 4 .*; in defineKind\("Thing"\) at v1/,
  );
  assert.throws(() => define({}), /spec: is not a Zod schema/);
});

test("a definition in another copy of Zod 4 gives the same CRD", () => {
  // The build for CommonJS is a copy beside the one for modules.
  const other = createRequire(import.meta.url)("zod") as typeof own;
  assert.notEqual(other.z.string, own.z.string);
  const [first, second] = [own, other].map(({ z }) =>
    define(
      z.object({
        text: z.string().min(1).describe("what is said"),
        port: z.int().max(65_535).default(80),
        mode: z.enum(["a", "b"]).optional(),
        tags: z.array(z.string()).check(listSet()),
        either: z.union([z.object({ a: z.string() }), z.object({ b: z.boolean() })]),
      }),
    ).crd(),
  );
  assert.deepEqual(first, second);
});
