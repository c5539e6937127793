import assert from "node:assert/strict";
import { Database, databaseOperator } from "@konverge/database-operator";
import { type Scenario, supplyVolumes, withNarrowerDefinition } from "@konverge/operator-suite";

/** The CRD of a tutorial is installed: no defaults, and only the phase in the status. */
export const aDatabaseRunsByALesserDefinition: Scenario = async (stage) => {
  await supplyVolumes(stage, "5Gi");
  await stage.start(databaseOperator);
  await withNarrowerDefinition(stage, "databases.example.com", ["phase"], async () => {
    await stage.apply({
      apiVersion: "example.com/v1",
      kind: "Database",
      metadata: { name: "plain" },
      spec: { version: "16.4", size: "5Gi" },
    });
    const status = async () => (await stage.find(Database, "plain"))?.status;
    await stage.until("it runs", async () => (await status())?.phase === "Running");
    assert.deepEqual(await status(), { phase: "Running" });
    await stage.settled();
  });
};
