import assert from "node:assert/strict";
import { isNotFound } from "konverge";
import { ConfigMap, Role, RoleBinding } from "konverge/kinds";
import type { Place } from "../test/place.ts";
import { Note, notes } from "./tenancy.ts";

export async function scenario({ client, namespace, install, run, until }: Place): Promise<void> {
  await install(Note);
  await run(notes);
  const metadata = { name: "builder", namespace };
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["create", "patch"] }];
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "builder" };
  await client.create(Role, { metadata, rules });
  await client.create(RoleBinding, { metadata, roleRef, subjects: [{ kind: "ServiceAccount", ...metadata }] });
  await client.create(
    Note,
    Note.new({ metadata: { name: "mine", namespace }, spec: { serviceAccount: "builder", text: "x" } }),
  );
  await client.create(
    Note,
    Note.new({ metadata: { name: "theirs", namespace }, spec: { serviceAccount: "visitor", text: "x" } }),
  );
  await until("what the tenant may do is done", async () => {
    return (await client.get(ConfigMap, `${namespace}/mine`)).data?.["text"] === "x";
  });
  const ready = async () =>
    (await client.get(Note, `${namespace}/theirs`)).status?.conditions?.find(({ type }) => type === "Ready");
  await until("it reports what is missing", async () => (await ready())?.reason === "Forbidden");
  const message = (await ready())?.message ?? "";
  assert.match(message, /cannot be written as system:serviceaccount:[^:]+:visitor/);
  assert.match(message, /cannot patch resource "configmaps" in API group ""/);
  await assert.rejects(client.get(ConfigMap, `${namespace}/theirs`), isNotFound);
}
