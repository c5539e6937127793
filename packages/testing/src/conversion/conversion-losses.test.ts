import assert from "node:assert/strict";
import { test } from "node:test";
import { cel, defineKind, listMap, quantity, z } from "@konverge/schema";
import { conversionLosses } from "./conversion-losses.ts";

const old = z.object({
  text: z.string().min(1).max(20),
  size: quantity().optional(),
  count: z.int().min(1).max(9).default(1),
  mode: z.enum(["fast", "slow"]).optional(),
  ports: z
    .array(z.object({ name: z.string().regex(/^[a-z]+$/), port: z.int32().min(1) }))
    .max(4)
    .check(listMap("name"))
    .optional(),
});

/** A kind whose second version has the count below `scale`; `keep` says what comes back. */
const kindThat = (keep: (count: number) => number) =>
  defineKind({
    group: "example.com",
    kind: "Thing",
    stored: "v1",
    versions: {
      v1: { spec: old, status: z.object({ phase: z.string().optional() }) },
      v2: {
        spec: old.omit({ count: true }).extend({ scale: z.object({ count: z.int().min(1).max(9) }) }),
        status: z.object({ phase: z.string().optional() }),
        rules: [cel("self.scale.count <= 9")],
      },
    },
    conversion: {
      v2: {
        toStored: ({ spec: { scale, ...spec }, status }) => ({ spec: { ...spec, count: scale.count }, status }),
        fromStored: ({ spec: { count, ...spec }, status }) => ({
          spec: { ...spec, scale: { count: keep(count) } },
          status,
        }),
      },
    },
  });

test("a conversion that keeps everything has no losses", () => {
  assert.deepEqual(conversionLosses(kindThat((count) => count)), []);
});

test("a field that does not come back is named, with an object that shows it", () => {
  const losses = conversionLosses(kindThat((count) => Math.min(count, 5)));
  assert.equal(losses.length, 2, losses.join("\n"));
  assert.match(losses[0]!, /^v2 → v1 → v2 changes spec\.scale\.count: \{"spec":\{.*"scale":\{"count":[6-9]\}/);
  assert.match(losses[1]!, /^v1 → v2 → v1 changes spec\.count: \{"spec":\{.*"count":[6-9]/);
});

test("a version for which nothing valid can be generated is an error, not a success", () => {
  const spec = z.object({ code: z.string().regex(/^[A-Z]{7}-\d{9}$/) });
  const versions = { v1: { spec }, v2: { spec } };
  const kind = defineKind({ group: "example.com", kind: "Thing", stored: "v1", versions });
  assert.throws(() => conversionLosses(kind), /no valid Thing of v2 can be generated: spec\.code: .*lostInConversion/);
});
