import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { realClock } from "@konverge/core";
import { type CommandStage, commandStage, until } from "../../test/command-stage.ts";
import { playDatabaseServers } from "../../test/database-servers.ts";
import { runCommand } from "../run/run-command.ts";
import { awaitBackup, backup } from "./backup.ts";
import { databaseKind, databaseOf } from "./database-objects.ts";
import { changeFence } from "./fence.ts";
import { promote } from "./promote.ts";
import { type PsqlTerminal, psql } from "./psql.ts";
import { statusText } from "./status-text.ts";

const OPERATOR = fileURLToPath(new URL("../../../../operators/database/src/operator.ts", import.meta.url));
const key = { name: "postgres-orders", namespace: "default" };
const clock = realClock();
const stop = new AbortController();
let stage: CommandStage;
let operator: Promise<unknown>;

const statusOf = async () => (await databaseOf(stage.client, key)).status ?? {};
const readyIs = (reason: string) =>
  until(`Ready has the reason ${reason}`, async () => {
    const { conditions } = await statusOf();
    return conditions?.find(({ type }) => type === "Ready")?.reason === reason;
  });

before(async () => {
  stage = await commandStage();
  playDatabaseServers(stage.cluster, "postgres");
  const args = [OPERATOR, "--install", "--kubeconfig", stage.kubeconfig];
  const quiet = ["--metrics-bind-address=0", "--health-probe-bind-address=0"];
  const ready = Promise.withResolvers<unknown>();
  const world = { env: {}, stop: stop.signal, write: () => {}, ready: ready.resolve };
  operator = runCommand(() => world).parseAsync([...args, ...quiet], { from: "user" });
  await Promise.race([ready.promise, operator]);
  const spec = { version: "16.4", size: "1Gi", instances: 2, backup: {} };
  await stage.client.create(await databaseKind(stage.client), { metadata: key, spec } as never);
  await readyIs("Running");
});
after(async () => {
  stop.abort();
  await operator;
  await stage[Symbol.asyncDispose]();
});

test("status shows the primary, each server, and what is not as requested", async () => {
  const text = statusText(await databaseOf(stage.client, key));
  assert.match(text, /^Database +default\/postgres-orders$/m);
  assert.match(text, /^Ready +True Running$/m);
  assert.match(text, /^Primary +postgres-orders-0 \(term 1, timeline 1\)$/m);
  assert.match(text, /^postgres-orders-1 +standby +true +\S+ +0s +40%$/m);
  assert.match(text, /^StorageAsRequested +True +AsRequested/m);
  await assert.rejects(
    databaseOf(stage.client, { ...key, name: "other" }),
    /no Database other in the namespace default/,
  );
});

test("promote hands over, the same pod again later, and reports what keeps it from that", async () => {
  const timeout = 60_000;
  assert.equal(await promote(stage.client, key, { timeout, clock }), "postgres-orders-1");
  assert.equal((await statusOf()).currentPrimary, "postgres-orders-1");
  await readyIs("Running");
  assert.equal(await promote(stage.client, key, { pod: "postgres-orders-0", timeout, clock }), "postgres-orders-0");
  await readyIs("Running");
  assert.equal(await promote(stage.client, key, { pod: "postgres-orders-1", timeout, clock }), "postgres-orders-1");
  assert.equal((await databaseOf(stage.client, key)).spec?.switchoverTo, undefined, "nothing stays requested");
  await readyIs("Running");
  const unknown = promote(stage.client, key, { pod: "postgres-orders-7", timeout, clock });
  await assert.rejects(
    unknown,
    /postgres-orders-7 is not a server of Database postgres-orders: those are postgres-orders-0/,
  );
});

test("fence and unfence change which servers run", async () => {
  const fence = (pods: readonly string[], isFenced: boolean) => changeFence(stage.client, key, { pods, isFenced });
  assert.deepEqual(await fence(["postgres-orders-0"], true), ["postgres-orders-0"]);
  await readyIs("PrimaryRuns");
  const standby = promote(stage.client, key, { pod: "postgres-orders-0", timeout: 3_000, clock });
  await assert.rejects(standby, /no hand-over in time/);
  assert.equal((await fence([], true)).length, 2);
  await readyIs("Fenced");
  await until("none accepts writes", async () => (await statusOf()).currentPrimary === undefined);
  await assert.rejects(psql(stage.client, key, { args: [] }, terminal().terminal), /no server .* accepts writes now/);
  assert.deepEqual(await fence(["postgres-orders-1"], false), ["postgres-orders-0"]);
  assert.deepEqual(await fence([], false), []);
  await readyIs("Running");
  await assert.rejects(fence(["other-0"], true), /other-0 is not a server/);
});

test("psql runs in the primary's or a standby's pod, with its arguments, input and exit code", async () => {
  await until("a standby is ready", async () =>
    ((await statusOf()).servers ?? []).some(({ role, ready }) => role === "standby" && ready),
  );
  const { currentPrimary } = await statusOf();
  const first = terminal();
  assert.equal(await psql(stage.client, key, { args: ["-c", "select 'a b'; -- $x"] }, first.terminal), 0);
  assert.equal(first.output(), `${currentPrimary}: -h /run/database -p 5432 -U postgres -c select 'a b'; -- $x\n`);
  assert.equal(await psql(stage.client, key, { args: ["fail"] }, terminal().terminal), 3);
  const piped = terminal("select 1;");
  assert.equal(await psql(stage.client, key, { args: ["-f", "-"], replica: true }, piped.terminal), 0);
  assert.match(piped.output(), /^postgres-orders-\d: .*\nSELECT 1;$/);
  assert.doesNotMatch(piped.output(), new RegExp(`^${currentPrimary}:`));
});

test("backup creates a DatabaseBackup and waits for its end", async () => {
  const name = await backup(stage.client, key, "before-migration");
  await awaitBackup(stage.client, { ...key, name }, { timeout: 60_000, clock });
  const missing = backup(stage.client, { ...key, name: "other" }, "b");
  await assert.rejects(missing, /there is no Database other/);
});

/** Streams in place of a terminal. */
function terminal(input = "") {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  stdin.end(input);
  let text = "";
  stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  return { terminal: { stdin, stdout, stderr } as PsqlTerminal, output: () => text };
}
