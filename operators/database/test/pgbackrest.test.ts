import assert from "node:assert/strict";
import { storeHolds } from "./pgbackrest-script.ts";
import { findPgBackRest } from "./pgbackrest-tools.ts";
import { withPostgres } from "./postgres.ts";

const tools = findPgBackRest();

withPostgres(
  "backups and WAL in a store are encrypted, kept as long as they are needed, and come back to the moment",
  async (room) => {
    assert.ok("bin" in tools);
    await storeHolds(room, tools.bin);
  },
  { ...("why" in tools && { skip: tools.why }) },
);
