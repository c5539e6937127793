import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap, Secret } from "@konverge/kinds";
import { controller } from "../controller/definition.ts";
import { use } from "./access.ts";
import { declaredAccess } from "./declared.ts";
import { compareAccess } from "./observed.ts";

const declared = (forOthers: boolean) =>
  declaredAccess([
    controller(ConfigMap, { uses: [use(Secret, ["get", "update"], { forOthers })], reconcile: () => ({}) }),
  ]).filter(({ resource }) => resource === "secrets");

test("rights that are held to be given to others are declared, and need not be used", () => {
  const verbs = declared(true).map(({ verb }) => verb);
  assert.deepEqual(verbs, ["get", "update"]);
  assert.deepEqual(compareAccess(declared(true), []).superfluous, []);
  assert.equal(compareAccess(declared(false), []).superfluous.length, 2);
});
