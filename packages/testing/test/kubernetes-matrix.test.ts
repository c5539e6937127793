import assert from "node:assert/strict";
import { test } from "node:test";
import { Pod } from "@konverge/kinds";
import { controller, operator } from "@konverge/runtime";
import { checkOperator } from "@konverge/testing";
import { sound, Widget } from "./widgets.ts";

/** Its pods have a field that Kubernetes serves from 1.34 on, behind a gate that is on from 1.35. */
const later = operator({
  ...sound,
  create: () => ({
    controllers: [
      controller(Widget, {
        owns: [Pod],
        reconcile: ({ metadata: { name } }) => {
          const spec = { hostnameOverride: "other", containers: [{ name: "web", image: "widget:1" }] };
          return { children: [Pod.draft({ metadata: { name }, spec })] };
        },
      }),
    ],
  }),
});

test("an operator whose field came later passes on the versions that have it, and is found on the others", async () => {
  const kubernetes = ["1.33", "1.34", "1.35", "1.36", "1.37"];
  const { findings } = await checkOperator(later, { kubernetes, faults: [], unusedPermissions: false });
  const unstored = "the operator writes Pod spec.hostnameOverride, which this version does not store";
  assert.deepEqual(
    findings.map(({ message }) => message),
    [`on Kubernetes 1.33: ${unstored}`, `on Kubernetes 1.34: ${unstored}`],
  );
});
