import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap, Secret } from "@konverge/kinds";
import { controller } from "../definition/controller.ts";
import { use } from "../rbac/access.ts";
import { compareAccess } from "../rbac/observed.ts";
import { declaredAccess } from "./declared-access.ts";

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
