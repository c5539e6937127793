import assert from "node:assert/strict";
import { join } from "node:path";
import { backupHolds, startStandby } from "./backup-script.ts";
import { drillHolds } from "./drill-script.ts";
import { withPostgres } from "./postgres.ts";
import { RecoveryRoom } from "./recovery-room.ts";
import { checkHolds, copyOf, makeHistory, newDataHold, RESTORES } from "./restore-script.ts";

withPostgres("a base backup is whole, tells what it is, and lets older ones go", async (room) => {
  const here = new RecoveryRoom(room);
  await here.begin();
  await backupHolds(here);
});

withPostgres("a standby gives the backup, which becomes a primary when it is restored", async (room) => {
  const here = new RecoveryRoom(room);
  await here.begin();
  await here.row("streamed");
  const { code, output, report } = await here.backup("given", { STANDBY_HOST: await startStandby(here) });
  assert.equal(code, 0, output);
  assert.equal(report["host"], "127.0.0.2");
  await here.archived();
  const volume = room.folder("new-volume");
  const restored = await here.restore("restore", volume, { inPlace: false });
  assert.equal(restored.code, 0, restored.output);
  await here.startOn(join(volume, "pgdata"));
  assert.equal(await here.sql("select pg_is_in_recovery()"), "f");
  assert.deepEqual(await here.rows(), ["streamed"]);
});

withPostgres(
  "a restore has exactly the rows of its moment, and takes the place of old data only when it is proven",
  async (room) => {
    const history = await makeHistory(room);
    await checkHolds(history, history.here);
    for (const holds of RESTORES) {
      const { here, volume } = copyOf(history);
      await holds(history, here, volume);
    }
    await newDataHold(history, copyOf(history).here);
    await drillHolds(history, copyOf(history).here);
  },
);
