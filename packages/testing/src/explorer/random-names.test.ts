import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnyObject } from "@konverge/core";
import { RandomNames } from "./random-names.ts";
import type { ObjectChange } from "./timeline.ts";

const run = (...names: readonly [resource: string, name: string, generateName?: string][]) => ({
  changes: names.map(
    ([resource, name, generateName]) =>
      ({ resource, name, type: "created", object: { metadata: { name, generateName } } as AnyObject }) as ObjectChange,
  ),
});

test("parts of names that differ between two runs are random, by resource and position", () => {
  const names = RandomNames.between(
    run(["deployments.apps", "web-worker-4f6a1b2c3d"], ["deployments.apps", "web"], ["jobs.batch", "copy-a"]),
    run(["deployments.apps", "web-worker-0e9d8c7b6a"], ["deployments.apps", "web"], ["jobs.batch", "copy-b"]),
  );
  assert.equal(names.shown("web-worker-7777aaaa00"), "web-worker-<random>");
  assert.equal(names.shown("web-worker-backup"), "web-worker-backup");
  assert.equal(names.shown("web"), "web");
  assert.equal(names.shown("copy-a"), "copy-a");
});

test("UUIDs, hashes, and generated names below them are recognized", () => {
  const names = RandomNames.between(
    run(["pods", "a-1", "web-6d4b75cb6d-"], ["secrets", "key-3f2504e0-4f89-11d3-9a0c-0305e82c3301"]),
    run(["pods", "b-1", "web-5bd9fc8b7f-"], ["secrets", "key-9b2504e0-1f89-41d3-8a0c-9905e82c3302"]),
  );
  assert.equal(names.shown("web-77fd9f4b6c-*"), "web-<random>-*");
  assert.equal(
    names.shown("key-00000000-4f89-11d3-9a0c-0305e82c3301"),
    "key-<random>-<random>-<random>-<random>-<random>",
  );
  const mask = names.masking(["web-77fd9f4b6c-*"]);
  assert.equal(mask("pod-template-hash: 77fd9f4b6c, 77fd9f4b6c1"), "pod-template-hash: <random>, 77fd9f4b6c1");
});

test("two runs with the same names have no random ones", () => {
  const same = run(["pods", "web-0"], ["secrets", "web-6d4b75cb6d"]);
  assert.equal(RandomNames.between(same, same).isEmpty, true);
});
