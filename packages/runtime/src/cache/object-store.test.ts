import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { thing } from "../../test/scripted-watch.ts";
import { ObjectStore } from "./object-store.ts";

const plain = { own: undefined, hot: false };
const filler = (size: number) => ({ data: "abcdefgh".repeat(size / 8) });

test("what was put in comes out, whatever was put in, replaced and deleted meanwhile", () => {
  const step = fc.record({
    key: fc.integer({ min: 0, max: 40 }).map((i) => `default/k${i}`),
    size: fc.constantFrom(0, 10, 5_000, 60_000, 200_000),
    remove: fc.boolean(),
    hot: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const store = new ObjectStore();
      const model = new Map<string, object>();
      for (const [i, { key, size, remove, hot }] of steps.entries()) {
        if (remove) {
          store.delete(key);
          model.delete(key);
        } else {
          const object = thing(key, i, filler(size));
          store.set(key, object, { own: undefined, hot });
          model.set(key, object);
        }
        assert.deepEqual(store.get(key), model.get(key));
      }
      for (const [key, object] of model) assert.deepEqual(store.get(key), object);
      assert.equal(store.size, model.size);
    }),
    { numRuns: 60 },
  );
});

test("objects that are not read take a fraction of their size", () => {
  const store = new ObjectStore();
  for (let i = 0; i < 10_000; i++) store.set(`default/k${i}`, thing(`k${i}`, i, filler(2_000)), plain);
  const asJson = 10_000 * 2_100;
  assert.ok(store.bytes < asJson / 3, `${store.bytes} bytes for ${asJson}`);
});

test("replaced and deleted objects take no room", () => {
  const store = new ObjectStore();
  for (let round = 0; round < 20; round++) {
    for (let i = 0; i < 500; i++) store.set(`default/k${i}`, thing(`k${i}`, round, filler(2_000)), plain);
  }
  assert.ok(store.bytes < 2 * 500 * 2_200, `${store.bytes} bytes`);
  for (let i = 0; i < 500; i++) store.delete(`default/k${i}`);
  assert.ok(store.bytes < 70_000, `${store.bytes} bytes for nothing`);
});

test("an entry can be read after its object was replaced", () => {
  const store = new ObjectStore();
  store.set("default/a", thing("a", 1, { data: "old" }), plain);
  const before = store.entry("default/a")!;
  for (let i = 2; i < 300; i++) store.set("default/a", thing("a", i, filler(2_000)), plain);
  assert.equal((store.read(before) as { data?: string }).data, "old");
});
