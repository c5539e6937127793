import assert from "node:assert/strict";
import { Database, databaseOperator } from "@konverge/database-operator";
import { type Scenario, supplyVolumes } from "@konverge/operator-suite";
import { CronJob } from "konverge/kinds";
import { type Outcomes, play, runs } from "./recovery-scenarios.ts";

const NAME = "postgres-orders";
const database = (backup: object) => ({
  apiVersion: "example.com/v1",
  kind: "Database",
  metadata: { name: NAME },
  spec: { version: "16.4", size: "5Gi", backup },
});

/** Backups are restored on a schedule, and what that shows is reported. */
export const drills: Scenario = async (stage) => {
  const outcomes: Outcomes = {};
  await supplyVolumes(stage, "20Gi", "20Gi", "20Gi", "20Gi");
  play(stage, outcomes);
  const operator = await stage.start(databaseOperator);
  const drill = { schedule: "*/5 * * * *", query: "select count(*) > 0 from orders", database: "shop" };
  await stage.apply(database({ drill }));
  await runs(stage, NAME);
  const { spec } = await stage.get(CronJob, `${NAME}-drill`);
  const pod = spec?.jobTemplate.spec?.template.spec;
  assert.ok(
    pod?.volumes?.some(({ ephemeral }) => ephemeral),
    "it restores into a volume that goes with its pod",
  );
  const variable = (name: string) => pod?.containers[0]?.env?.find((one) => one.name === name)?.value;
  assert.deepEqual([variable("MODE"), variable("DRILL"), variable("QUERY_DATABASE")], ["drill", "random", "shop"]);
  const condition = () => stage.condition(Database, NAME, "RestoreDrill");
  const failed = async () => /database_drill_last_failed\{.*\} (\d)/.exec(await operator.metrics())?.[1];
  assert.equal(await condition(), undefined);
  await stage.until("a drill passed", async () => (await condition()) === "True DrillPassed", 600_000);
  assert.equal(await failed(), "0");

  outcomes["drill"] = { error: "backup second is damaged" };
  await stage.until("a drill failed", async () => (await condition()) === "False DrillFailed", 600_000);
  const { status } = await stage.get(Database, NAME);
  assert.deepEqual(
    status?.drills?.slice(0, 2).map(({ result, error }) => [result, error]),
    [
      ["Failed", "backup second is damaged"],
      ["Passed", undefined],
    ],
  );
  assert.equal(await failed(), "1");
  assert.ok((await stage.events(Database, NAME)).some((text) => text.includes("DrillFailed")));

  await stage.client.patch(Database, `${stage.namespace}/${NAME}`, {
    merge: { spec: { backup: { drill: null } } } as never,
  });
  await stage.until(
    "nothing is tried any more",
    async () => (await stage.find(CronJob, `${NAME}-drill`)) === undefined,
  );
  await stage.until("nothing is reported", async () => (await condition()) === undefined);
};
