import assert from "node:assert/strict";
import { test } from "node:test";
import { slug } from "./slug.ts";

test("anchors are those of GitHub", () => {
  assert.equal(slug("What works today"), "what-works-today");
  assert.equal(slug("controller(Kind, options)"), "controllerkind-options");
  assert.equal(slug("konverge/sizing: by an SLA"), "konvergesizing-by-an-sla");
  assert.equal(slug("4. The operator"), "4-the-operator");
  assert.equal(slug("a_b – c"), "a_b--c");
});
