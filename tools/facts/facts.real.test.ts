import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { findControlPlane } from "@konverge/real";
import { hasGo } from "@konverge/real/locate.ts";
import { generateFacts } from "./generate.ts";

const plane = findControlPlane();
const skip = !plane.available ? plane.why : !hasGo() && "the Go types can only be read with Go installed";

test("the facts and types of built-in kinds are what the real server and the Go types say", { skip }, async () => {
  for (const [path, text] of await generateFacts()) {
    const present = readFileSync(new URL(`../../packages/kinds/${path}`, import.meta.url), "utf8");
    assert.ok(present === text, `packages/kinds/${path} is out of date: run "npm run facts"`);
  }
});
