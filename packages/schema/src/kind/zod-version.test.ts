import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { defineKind } from "./define-kind.ts";
import { zodProblem } from "./zod-version.ts";

test("Zod 4 can be read; another version is named, with what to install", () => {
  assert.equal(zodProblem(z), undefined);
  assert.equal(zodProblem({ string() {} }), "konverge needs Zod 4, but Zod 3 is installed: npm install zod@4");
  assert.equal(
    zodProblem({ core: { version: { major: 5, minor: 1, patch: 0 } } }),
    "konverge needs Zod 4, but Zod 5.1.0 is installed: npm install zod@4",
  );
});

test("a schema of Zod 3 in a definition is an error that says so", () => {
  const define = (spec: object) =>
    defineKind({ group: "example.com", kind: "Thing", versions: { v1: { spec: spec as never } } });
  assert.throws(
    () => define({ _def: {} }),
    /spec: is a schema of Zod 3: create it with Zod 4 .*; in defineKind\("Thing"\) at v1/,
  );
  assert.throws(() => define({}), /spec: is not a Zod schema/);
});
