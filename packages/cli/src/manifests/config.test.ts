import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { operators } from "@konverge/operators";
import { DEFAULT_IMAGE, DEFAULT_NAMESPACE } from "./defaults.ts";
import { manifestFiles } from "./files.ts";
import { manifestDifferences } from "./write-manifests.ts";

test("config/ is what the operators say; after a change of them, make manifests", () => {
  const folder = fileURLToPath(new URL("../../../../config", import.meta.url));
  const files = manifestFiles(operators, { namespace: DEFAULT_NAMESPACE, image: DEFAULT_IMAGE });
  assert.deepEqual(manifestDifferences(folder, files), []);
});
