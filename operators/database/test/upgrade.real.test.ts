import { script } from "@konverge/database-operator";
import { findNewerPostgres } from "./newer-postgres.ts";
import { withPostgres } from "./postgres.ts";
import { findPostgres, type PostgresTools } from "./postgres-tools.ts";
import { isCutOff, refuses, returns, UpgradeStage, upgrades } from "./upgrade-stories.ts";

const newer = findNewerPostgres();

function withBoth(name: string, story: (stage: UpgradeStage) => Promise<void>): void {
  const options = { patience: 180_000, ...("why" in newer && { skip: newer.why }) };
  withPostgres(
    name,
    async (room) => {
      const stage = new UpgradeStage(room, findPostgres() as PostgresTools, newer as PostgresTools);
      stage.scripts = { "upgrade.sh": script("upgrade.sh") };
      await story(stage);
    },
    options,
  );
}

withBoth("version 15 becomes version 18 with all rows, after a rehearsal that changes nothing", upgrades);
withBoth("what pg_upgrade or the new version objects to is found by the rehearsal", refuses);
withBoth("an upgrade that fails is undone, unless the new version has taken writes", returns);
withBoth("an upgrade that is cut off at any move is undone, or goes on, with all rows", isCutOff);
