import { script } from "@konverge/database-operator";
import { findNewerPostgres } from "./newer-postgres.ts";
import { type MachineRoom, withPostgres } from "./postgres.ts";
import { findPostgres, type PostgresTools } from "./postgres-tools.ts";
import { isCutOff, refuses, returns, UpgradeStage, upgrades } from "./upgrade-stories.ts";

const newer = findNewerPostgres();
const options = { patience: 180_000, ...("why" in newer && { skip: newer.why }) };

const withBoth = (story: (stage: UpgradeStage) => Promise<void>) => async (room: MachineRoom) => {
  const stage = new UpgradeStage(room, findPostgres() as PostgresTools, newer as PostgresTools);
  stage.scripts = { "upgrade.sh": script("upgrade.sh") };
  await story(stage);
};

withPostgres(
  "version 15 becomes version 18 with all rows, after a rehearsal that changes nothing",
  withBoth(upgrades),
  options,
);
withPostgres("what pg_upgrade or the new version objects to is found by the rehearsal", withBoth(refuses), options);
withPostgres("an upgrade that fails is undone, unless the new version has taken writes", withBoth(returns), options);
withPostgres(
  "an upgrade that is cut off at any move is undone, or goes on, with all rows",
  withBoth(isCutOff),
  options,
);
