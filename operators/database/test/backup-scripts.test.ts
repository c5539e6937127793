import { archiveHolds } from "./archive-script.ts";
import { badDumpsHold, dumpingHolds, loadingHolds, mysqlDumpsHold } from "./dump-script.ts";
import { withPostgres } from "./postgres.ts";
import { pruneHolds } from "./prune-script.ts";
import { databaseWith, PASSWORD, RecoveryRoom } from "./recovery-room.ts";

withPostgres("WAL is archived whole, durably, and never written over", async (room) => {
  await archiveHolds(new RecoveryRoom(room), await room.newData(PASSWORD));
});

withPostgres("older backups go, and never what a kept one needs", async (room) => {
  await pruneHolds(new RecoveryRoom(room));
});

withPostgres("dumps come back whole, or what was there stays", async (room) => {
  const here = new RecoveryRoom(room, databaseWith({ method: "logical" }));
  await here.begin();
  for (const holds of [dumpingHolds, loadingHolds, badDumpsHold, mysqlDumpsHold]) {
    here.clear();
    await holds(here);
  }
});
