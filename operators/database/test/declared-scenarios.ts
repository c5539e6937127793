import assert from "node:assert/strict";
import { Database, isVerifier, verifies } from "@konverge/database-operator";
import type { Scenario, TestEnvironment } from "@konverge/operator-suite";
import { Pod, Secret } from "konverge/kinds";
import { begun, change, hasEvent, isReady, NAME } from "./replica-stage.ts";

const ROLES = [{ name: "app", login: true, passwordSecret: { name: "of-app" } }, { name: "readers" }];

const condition = (stage: TestEnvironment, type: string, expected: string) =>
  stage.until(`${type} is ${expected}`, async () => (await stage.condition(Database, NAME, type)) === expected);

async function givePassword(stage: TestEnvironment, password: string): Promise<void> {
  const data = { password: Buffer.from(password).toString("base64") };
  await stage.apply({ apiVersion: "v1", kind: "Secret", metadata: { name: "of-app" }, data });
}

/** What the primary gets. */
async function declared(stage: TestEnvironment) {
  const { data } = await stage.get(Secret, `${NAME}-declared`);
  const text = Buffer.from(data!["declared.json"]!, "base64").toString();
  return JSON.parse(text) as {
    roles: { name: string; password?: string }[];
    databases: { name: string; owner: string }[];
  };
}

/** The least of it, for a test that plays it very often. */
export const declaresOnce: Scenario = async (stage) => {
  await givePassword(stage, "first");
  await begun(stage, { instances: 1, roles: ROLES, databases: [{ name: "shop", owner: "app" }] });
  await condition(stage, "RolesAsRequested", "True AsRequested");
  await condition(stage, "DatabasesAsRequested", "True AsRequested");
};

/** Roles and databases are carried out without a restart; passwords rotate with their Secrets; failures are reported by name. */
export const declares: Scenario = async (stage) => {
  const servers = await begun(stage, { instances: 2 });
  const uids = async () => (await stage.list(Pod)).map(({ metadata }) => metadata.uid).sort();
  const pods = await uids();
  await change(stage, { roles: ROLES, databases: [{ name: "shop", owner: "app", schemas: [{ name: "sales" }] }] });
  await condition(stage, "RolesAsRequested", "False Failed");
  assert.match(
    (await stage.get(Database, NAME)).status!.roles!.find(({ name }) => name === "app")!.message!,
    /there is no Secret of-app/,
  );
  await givePassword(stage, "first");
  await condition(stage, "RolesAsRequested", "True AsRequested");
  await condition(stage, "DatabasesAsRequested", "True AsRequested");
  const [app, readers] = (await declared(stage)).roles;
  assert.ok(isVerifier(app!.password!) && verifies(app!.password!, "first"));
  assert.equal(readers!.password, undefined);
  assert.match(servers.declared, /SCRAM-SHA-256/);
  assert.doesNotMatch(servers.declared, /first/);

  // A rotation.
  await givePassword(stage, "second");
  await stage.until("the server has it", () => {
    const [{ password } = {}] = (JSON.parse(servers.declared) as { roles: { password?: string }[] }).roles;
    return password !== undefined && verifies(password, "second");
  });

  // What PostgreSQL refuses.
  servers.impossible = [{ kind: "database", name: "shop" }];
  await condition(stage, "DatabasesAsRequested", "False Failed");
  const { status } = await stage.get(Database, NAME);
  assert.deepEqual(status!.databases, [{ name: "shop", state: "Failed", message: "shop cannot be done" }]);
  assert.ok(await hasEvent(stage, "DatabaseNotApplied"));
  assert.equal(await stage.condition(Database, NAME, "Ready"), "True Running");
  servers.impossible = [];
  await condition(stage, "DatabasesAsRequested", "True AsRequested");
  assert.deepEqual(await uids(), pods, "no server was restarted");

  // Without any, there is nothing to carry out, and nothing is reported.
  await change(stage, { roles: null, databases: null });
  await stage.until("the Secret is deleted", async () => (await stage.find(Secret, `${NAME}-declared`)) === undefined);
  await isReady(stage);
  assert.equal((await stage.get(Database, NAME)).status!.roles, undefined);
  await refuses(stage);
};

/** The webhook names the field and the reason. */
async function refuses(stage: TestEnvironment): Promise<void> {
  const application = { database: "shop", owner: "seller" };
  const long = "ä".repeat(32);
  for (const [spec, message] of [
    [{ roles: [{ name: "pg_mine" }] }, /spec\.roles\[0\]\.name.*names that begin with pg_/],
    [{ roles: [{ name: "postgres" }] }, /spec\.roles\[0\]\.name.*reserved/],
    [{ roles: [{ name: long }] }, /at most 63 bytes, and has 64/],
    [{ roles: [{ name: "a\nb" }] }, /no control characters/],
    [{ roles: [{ name: "a", inRoles: ["a"] }] }, /no member of itself/],
    [{ roles: [{ name: "a" }, { name: "a" }] }, /Duplicate value/],
    [{ roles: [{ name: "a", passwordSecret: { name: "s" }, disablePassword: true }] }, /set at most one of them/],
    [{ application, roles: [{ name: "seller" }] }, /the role of spec\.application/],
    [{ application, databases: [{ name: "shop", ensure: "absent" }] }, /is not dropped/],
    [{ application, databases: [{ name: "shop", owner: "other" }] }, /omit its owner/],
    [{ databases: [{ name: "template1", owner: "a" }] }, /PostgreSQL's own/],
    [{ databases: [{ name: "shop" }] }, /spec\.databases\[0\]\.owner.*is required/],
    [{ databases: [{ name: "shop", owner: "a", schemas: [{ name: "pg_mine" }] }] }, /schemas\[0\]\.name/],
  ] as const) {
    await assert.rejects(change(stage, spec), message);
  }
}
