import assert from "node:assert/strict";
import { CustomResourceDefinition } from "@konverge/kinds";
import { controller } from "@konverge/runtime";
import { defineKind, z } from "@konverge/schema";
import { scenario } from "./scenario.ts";
import { Widget } from "./stage.ts";

const Gadget = defineKind({
  group: "example.com",
  kind: "Gadget",
  versions: {
    v1: {
      spec: z.object({ parts: z.array(z.string()).default([]), text: z.string().default("") }),
      status: z.object({ count: z.int().optional(), text: z.string().optional() }),
    },
  },
});

/** A CRD of an older version of the kind: no defaults, and one field of the status. */
function narrower(): CustomResourceDefinition {
  const crd = Gadget.crd() as CustomResourceDefinition;
  const text = { type: "string" };
  const parts = { type: "array", items: text };
  const schema = {
    type: "object",
    properties: {
      spec: { type: "object", properties: { parts, text } },
      status: { type: "object", properties: { text } },
    },
  };
  const versions = crd.spec.versions.map((version) => ({ ...version, schema: { openAPIV3Schema: schema } }));
  return { ...crd, spec: { ...crd.spec, versions } };
}

scenario("an operator works with a CustomResourceDefinition that knows less than its own", async (s) => {
  await s.user.create(CustomResourceDefinition, narrower() as never);
  const key = "gadgets.example.com";
  for (let isServed = false; !isServed; ) {
    await s.settle();
    const { status } = await s.user.get(CustomResourceDefinition, key);
    isServed = status?.conditions?.some(({ type, status }) => type === "Established" && status === "True") ?? false;
  }
  const seen: unknown[] = [];
  await s.run(
    controller(Gadget, {
      reconcile: ({ spec }) => {
        seen.push(spec);
        return { status: { text: `[${spec.text}]`, count: spec.parts.length } };
      },
    }),
  );
  const bare = {
    apiVersion: "example.com/v1",
    kind: "Gadget",
    metadata: { name: "g", namespace: "default" },
    spec: {},
  };
  await s.user.create(Gadget, bare as never);
  await s.settle();
  assert.deepEqual(seen[0], { parts: [], text: "" });
  const stored = await s.user.get(Gadget, "default/g");
  assert.deepEqual(stored.spec, {});
  assert.deepEqual(stored.status, { text: "[]" });
  for (const field of ["count", "observedGeneration"]) {
    assert.ok(s.warnings.some((line) => line.includes("does not declare") && line.includes(`status.${field}`)));
  }
  s.writes();
  await s.user.patch(Gadget, "default/g", { merge: { spec: { text: "more" } } });
  await s.settle();
  assert.equal(s.writes().length, 1);
  assert.deepEqual((await s.user.get(Gadget, "default/g")).status, { text: "[more]" });
  await s.user.delete(CustomResourceDefinition, key);
});

scenario("a status field that the definition does not have is named as such, and the rest is reported", async (s) => {
  const misspelled = { text: "fine", cuont: 1 };
  await s.run(controller(Widget, { reconcile: () => ({ status: misspelled as object }) }));
  await s.widget("w");
  await s.settle();
  assert.equal((await s.user.get(Widget, "default/w")).status?.text, "fine");
  assert.deepEqual(s.warnings, [
    "the definition of Widget.example.com does not declare status.cuont, which is not reported: add it to the status of " +
      "the definition, or correct its name in what reconcile returns",
  ]);
});
