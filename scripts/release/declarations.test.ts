import assert from "node:assert/strict";
import { test } from "node:test";
import { rewriteImports } from "./declarations.ts";
import { type PublishedPackage, published } from "./layout.ts";

const [konverge, dev] = published as [PublishedPackage, PublishedPackage];

test("an import of a folder in the same package becomes a relative path", () => {
  const text = 'import { a } from "@konverge/core";\nexport * from "@konverge/schema/cel";';
  assert.equal(
    rewriteImports(text, "types/client/watch/watch.d.ts", konverge),
    'import { a } from "../../core/index.js";\nexport * from "../../schema/cel.js";',
  );
});

test("an import of a folder in another package becomes an internal subpath of that package", () => {
  assert.equal(
    rewriteImports('import("@konverge/core").Clock', "types/apiserver/index.d.ts", dev),
    'import("konverge/internal/core").Clock',
  );
});

test("anything else is unchanged", () => {
  const text = 'const x = "@konverge/core"; import "@konverge/real"; import { z } from "zod";';
  assert.equal(rewriteImports(text, "types/runtime/a.d.ts", konverge), text);
});
