import assert from "node:assert/strict";
import { ConfigMap, Role, RoleBinding } from "konverge/kinds";
import { MissingPermissionError } from "konverge/rbac";
import type { Place } from "../test/place.ts";
import { Door, doorRoles, doors } from "./rbac.ts";

export async function scenario({ client, namespace, install, run, until }: Place): Promise<void> {
  await install(Door);
  const robot = client.as({
    user: `system:serviceaccount:${namespace}:doors`,
    groups: ["system:serviceaccounts", "system:authenticated"],
  });
  await assert.rejects(run(doors, { client: robot, preflight: true }), (error: unknown) => {
    assert.ok(error instanceof MissingPermissionError);
    assert.match(error.message, /watch doors\.examples\.konverge\.dev in namespace/);
    return true;
  });
  for (const object of doorRoles(namespace)) {
    await client.create((object.kind === "Role" ? Role : RoleBinding) as typeof Role, object as never);
  }
  await until("the permissions are in effect", async () => {
    await run(doors, { client: robot, preflight: true });
    return true;
  });
  await client.create(Door.new({ metadata: { name: "front", namespace }, spec: { key: "none" } }));
  await until("the door is shut", async () => {
    return (await client.get(ConfigMap, `${namespace}/front`)).data?.["open"] === "false";
  });
}
