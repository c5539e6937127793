import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap, Secret } from "@konverge/kinds";
import { controller } from "../definition/controller.ts";
import { permission } from "../rbac/access.ts";
import { comparePermissions } from "../rbac/observed.ts";
import { controllerPermissions } from "./declared-access.ts";

const declared = (forOthers: boolean) =>
  controllerPermissions([
    controller(ConfigMap, {
      permissions: [permission(Secret, ["get", "update"], { forOthers })],
      reconcile: () => ({}),
    }),
  ]).filter(({ resource }) => resource === "secrets");

test("permissions that are held to be granted to others are declared, and need not be used", () => {
  const verbs = declared(true).map(({ verb }) => verb);
  assert.deepEqual(verbs, ["get", "update"]);
  assert.deepEqual(comparePermissions(declared(true), []).superfluous, []);
  assert.equal(comparePermissions(declared(false), []).superfluous.length, 2);
});
