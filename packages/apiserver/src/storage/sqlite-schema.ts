import { createRequire } from "node:module";
import type { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";

/** "KVRG" in the file's header: distinguishes our files from those of other programs. */
const APPLICATION_ID = 0x4b_56_52_47;

/** Raised by every change to the tables or to the meaning of what is in them. */
export const SCHEMA_VERSION = 1;

/**
 * `objects` is the state at the revision `base`; `changes` is what happened since. A write adds one row to `changes`;
 * compaction folds the oldest rows into `objects`. Rows up to `target` are waiting to be folded.
 *
 * Both have row ids: without them, a row of more than a quarter of a page takes another page besides, and most
 * objects are that long.
 */
const TABLES = `
  CREATE TABLE progress (base INTEGER NOT NULL, target INTEGER NOT NULL, checksum INTEGER NOT NULL) STRICT;
  INSERT INTO progress VALUES (0, 0, ${crc32("0 0")});
  CREATE TABLE objects (
    resource TEXT NOT NULL, key TEXT NOT NULL, revision INTEGER NOT NULL, uid TEXT NOT NULL,
    labels TEXT, fields TEXT, text TEXT NOT NULL, checksum INTEGER NOT NULL,
    PRIMARY KEY (resource, key)
  ) STRICT;
  CREATE TABLE changes (
    revision INTEGER PRIMARY KEY, resource TEXT NOT NULL, key TEXT NOT NULL, uid TEXT NOT NULL,
    labels TEXT, fields TEXT, text TEXT NOT NULL, checksum INTEGER NOT NULL,
    deleted INTEGER NOT NULL, at INTEGER NOT NULL
  ) STRICT;
`;

/** A journal's file cannot be used; the message says why and what to do about it. */
export class JournalError extends Error {
  override readonly name = "JournalError";
  readonly code: "Damaged" | "Foreign" | "InUse" | "NewerVersion" | "Unreadable";

  constructor(code: JournalError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** What must survive: the process (kill -9), or the machine's power as well, at the price of one disk flush per commit. */
export type Durability = "process" | "power";

/** Opens a journal's file for this process alone, and makes its tables if it is new. */
export function openDatabase(path: string, durability: Durability): DatabaseSync {
  // Loaded when a file is opened: most clusters keep their state in memory, and not every runtime has SQLite.
  const sqlite = createRequire(import.meta.url)("node:sqlite") as typeof import("node:sqlite");
  const database = new sqlite.DatabaseSync(path);
  try {
    // Exclusive before WAL: the file is locked for as long as it is open, and no shared-memory file is needed.
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL");
    database.exec(`PRAGMA synchronous = ${durability === "power" ? "FULL" : "NORMAL"}`);
    database.exec("BEGIN IMMEDIATE");
    prepareTables(database, path);
    database.exec("COMMIT");
    return database;
  } catch (error) {
    database.close();
    throw explain(error, path);
  }
}

function prepareTables(database: DatabaseSync, path: string): void {
  const pragma = (name: string) => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
  const isEmpty = database.prepare("SELECT count(*) AS tables FROM sqlite_schema").get()?.["tables"] === 0;
  if (isEmpty) {
    database.exec(`${TABLES} PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`);
    return;
  }
  if (pragma("application_id") !== APPLICATION_ID) {
    throw new JournalError(
      "Foreign",
      `${path} is a SQLite database of another program. Give the path of a file that does not exist yet, or of one that this server has made.`,
    );
  }
  const version = Number(pragma("user_version"));
  if (version > SCHEMA_VERSION) {
    throw new JournalError(
      "NewerVersion",
      `${path} was written by a newer version of Konverge (its format is ${version}, this version knows up to ${SCHEMA_VERSION}). Use that version, or start with another file.`,
    );
  }
}

const SQLITE_BUSY = 5;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_NOTADB = 26;

/** The primary result code of an error that SQLite reported. */
function sqliteCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown }).errcode;
  return typeof code === "number" ? code & 0xff : undefined;
}

/** An error of SQLite in terms of what the user can do. */
export function explain(error: unknown, path: string): Error {
  if (error instanceof JournalError) return error;
  const text = error instanceof Error ? error.message : String(error);
  switch (sqliteCode(error)) {
    case SQLITE_BUSY:
      return new JournalError(
        "InUse",
        `${path} is in use by another process. Stop that process first, or start this one with another file.`,
        { cause: error },
      );
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return damaged(path, text, error);
    case SQLITE_FULL:
      return new Error(`${path} cannot grow: the disk is full. Free some space; nothing of this change was kept.`, {
        cause: error,
      });
    default:
      return new JournalError("Unreadable", `${path} cannot be used: ${text}. Check the path and its permissions.`, {
        cause: error,
      });
  }
}

/** The error for a file whose content is not what was written. */
export function damaged(path: string, what: string, cause?: unknown): JournalError {
  return new JournalError(
    "Damaged",
    `${path} is damaged: ${what}. Restore a copy of the file or a saved snapshot, or move it away (with ${path}-wal and ${path}-revision) to start empty.`,
    { cause },
  );
}

/** The error for a file that ends before the last revision that was acknowledged; NaN where that is not known. */
export function incomplete(path: string, revision: number, acknowledged: number, record: string): JournalError {
  const what = Number.isNaN(acknowledged)
    ? `${record}, which says how far ${path} goes, is damaged`
    : `${path} is damaged: it ends at revision ${revision}, but revision ${acknowledged} was acknowledged`;
  const why =
    "The end of its write-ahead log is missing after damage, a power failure, or the copy of one file without the others";
  const advice = `Restore a copy of all its files or a saved snapshot, or remove ${record} to continue with revision ${revision}`;
  return new JournalError("Damaged", `${what}. ${why}. ${advice}.`);
}
