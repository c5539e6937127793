import assert from "node:assert/strict";
import { test } from "node:test";
import { published } from "./layout.ts";
import { rewriteImports } from "./rewrite-imports.ts";

const [konverge, dev] = published as [(typeof published)[0], (typeof published)[0]];
const moduleOf = (_folder: string, subpath: string) => (subpath ? `${subpath.slice(1)}/index.js` : "index.js");

test("an import of a folder in the same package becomes a relative path", () => {
  const text = 'import { a } from "@konverge/core";\nexport * from "@konverge/schema/cel";';
  assert.equal(
    rewriteImports(text, "dist/client/watch/watch.js", konverge, moduleOf),
    'import { a } from "../../core/index.js";\nexport * from "../../schema/cel/index.js";',
  );
});

test("an import of a folder in the other package becomes that package's subpath", () => {
  assert.equal(
    rewriteImports('import "@konverge/core";', "dist/apiserver/index.js", dev, moduleOf),
    'import "konverge/core";',
  );
});

test("a dynamic import is rewritten too, anything else is left alone", () => {
  const text = 'await import("@konverge/client"); const x = "@konverge/core"; import "@konverge/real";';
  assert.equal(
    rewriteImports(text, "dist/runtime/a.js", konverge, moduleOf),
    'await import("../client/index.js"); const x = "@konverge/core"; import "@konverge/real";',
  );
});
