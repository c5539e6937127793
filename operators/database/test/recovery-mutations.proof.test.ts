import assert from "node:assert/strict";
import { archiveHolds } from "./archive-script.ts";
import { backupHolds, startStandby } from "./backup-script.ts";
import { dumpsHold, mysqlDumpsHold } from "./dump-script.ts";
import { withPostgres } from "./postgres.ts";
import { pruneHolds } from "./prune-script.ts";
import { databaseWith, PASSWORD, RecoveryRoom } from "./recovery-room.ts";
import { checkHolds, copyOf, makeHistory, newDataHold, restoreHolds } from "./restore-script.ts";
import { type Unnoticed, unmissedLines } from "./script-mutations.ts";

/** Programs speak English here; elsewhere their answers could not be read. */
const LANGUAGE: Unnoticed = { line: "export LC_ALL=C", why: "no other language is installed" };

/** Milliseconds for the scripts whose lines take long to miss; KONVERGE_ALL_LINES tries all of them. */
const WITHIN = process.env["KONVERGE_ALL_LINES"] ? Number.POSITIVE_INFINITY : 60_000;

withPostgres("every line of archive.sh is needed", async (room) => {
  const data = await room.newData(PASSWORD);
  const unmissed = await unmissedLines({
    script: "archive.sh",
    unnoticed: [LANGUAGE],
    async holds(change) {
      const here = new RecoveryRoom(room);
      here.useScripts(change);
      await archiveHolds(here, data);
    },
  });
  assert.deepEqual(unmissed, []);
});

withPostgres("every line of backup-prune.sh is needed", async (room) => {
  const unmissed = await unmissedLines({
    script: "backup-prune.sh",
    unnoticed: [LANGUAGE, { line: "count=0", why: "this shell counts from nothing as from 0; others do not" }],
    async holds(change) {
      const here = new RecoveryRoom(room);
      here.useScripts(change);
      await pruneHolds(here);
    },
  });
  assert.deepEqual(unmissed, []);
});

withPostgres("every line of backup.sh is needed", async (room) => {
  const here = new RecoveryRoom(room);
  await here.begin();
  const standby = await startStandby(here);
  const unmissed = await unmissedLines({
    script: "backup.sh",
    unnoticed: [LANGUAGE],
    async holds(change) {
      here.clear();
      here.env = {};
      here.useScripts(change);
      await backupHolds(here, standby);
    },
  });
  assert.deepEqual(unmissed, []);
});

withPostgres("every line of the scripts for dumps is needed", async (room) => {
  // A dump that loads half leaves a server that is of no use to others.
  const holds = async (change: (name: string, text: string) => string) => {
    const here = new RecoveryRoom(room, databaseWith({ method: "logical" }));
    here.useScripts(change);
    await here.begin();
    try {
      await mysqlDumpsHold(here);
      await dumpsHold(here);
    } finally {
      await here.end();
    }
  };
  const unmissed = [
    ...(await unmissedLines({ script: "backup-dump.sh", unnoticed: [LANGUAGE], holds }, WITHIN)),
    ...(await unmissedLines({ script: "backup-sql.sh", unnoticed: [], holds }, WITHIN)),
    ...(await unmissedLines({ script: "restore-dump.sh", unnoticed: [LANGUAGE], holds }, WITHIN)),
  ];
  assert.deepEqual(unmissed, []);
});

withPostgres("every line of restore.sh is needed", async (room) => {
  const history = await makeHistory(room);
  const holds = async (change: (name: string, text: string) => string) => {
    const { here, volume } = copyOf(history);
    here.useScripts(change);
    try {
      await checkHolds(history, here);
      await newDataHold(history, here);
      await restoreHolds(history, here, volume);
    } finally {
      await here.end();
      room.remove(here.volume, volume);
    }
  };
  assert.deepEqual(await unmissedLines({ script: "restore.sh", unnoticed: [LANGUAGE], holds }, WITHIN), []);
});
