import assert from "node:assert/strict";
import { test } from "node:test";
import { isOlder } from "./ray-version.ts";

test("versions are compared number by number; what is not a version counts as older", () => {
  for (const older of ["2.9.0", "2.51.9", "1.13", "nightly", "2"]) assert.ok(isOlder(older, "2.52.0"), older);
  for (const newer of ["2.52.0", "2.52", "2.53.0rc1", "2.100.1", "3.0.0", "v2.52.0"])
    assert.ok(!isOlder(newer, "2.52.0"), newer);
});
