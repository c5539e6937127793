import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { Collection } from "./collection.ts";
import type { Entry } from "./entry.ts";
import type { Journal, JournalRecord, Snapshot } from "./journal.ts";
import { RevisionRecord } from "./revision-record.ts";
import { type Durability, damaged, explain, incomplete, openDatabase } from "./sqlite-schema.ts";

/** The file, and what it must survive. */
export interface SqliteJournalOptions {
  /** Made when it does not exist, readable by its owner alone: it holds Secrets. */
  path: string;
  /** Default `process`: see docs/decisions/029-durable-journal.md. */
  durability?: Durability;
}

/** Rows folded into the base after each commit: a little more than a busy server writes in a turn, so that it keeps up. */
const FOLD_AT_ONCE = 256;

interface Row {
  resource: string;
  key: string;
  revision: number;
  uid: string;
  labels: string | null;
  fields: string | null;
  text: string;
  checksum: number;
  /** 0 or 1. */
  deleted: number;
}

interface ChangeRow extends Row {
  at: number;
}

/**
 * The journal in a SQLite file, in WAL mode, for one process.
 *
 * Guarantees: what `append` has returned for is there after the process is killed at any moment; with durability `power`
 * also after the machine is. A batch is kept whole or not at all. Every row carries a checksum, so damage is found when
 * the file is loaded, not when an object turns out to be wrong. A file beside it, `-revision`, says how far it went: what ends
 * earlier is refused.
 *
 * Caveat: with durability `process`, a power failure may lose the changes since the last checkpoint (some megabytes); the
 * file is then consistent, as of an earlier revision, and refused if the file beside it has outlived them.
 */
export class SqliteJournal implements Journal {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #insert;
  readonly #record: RevisionRecord;
  /** See the tables: `objects` is the state at `base`, changes up to `target` are to be folded into it. */
  #base = 0;
  #target = 0;

  constructor({ path, durability = "process" }: SqliteJournalOptions) {
    this.#path = path;
    createPrivateFile(path);
    this.#database = openDatabase(path, durability);
    this.#insert = this.#database.prepare("INSERT INTO changes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    this.#record = this.#openRecord();
  }

  load(): Snapshot | undefined {
    try {
      const snapshot = this.#load();
      this.#checkEnd(snapshot?.revision ?? 0);
      return snapshot;
    } catch (error) {
      this.#database.close();
      this.#record.close();
      throw explain(error, this.#path);
    }
  }

  append(records: readonly JournalRecord[]): void {
    this.#transaction(() => {
      for (const { resource, change } of records) {
        const row = rowOf(resource, change.entry, change.deleted);
        const { revision, key, uid, labels, fields, text, checksum, deleted } = row;
        this.#insert.run(revision, resource, key, uid, labels, fields, text, checksum, deleted, change.at);
      }
    });
    const last = records.at(-1);
    if (last) this.#note(last.change.revision);
    this.#foldSome(Math.max(FOLD_AT_ONCE, 2 * records.length));
  }

  compact(revision: number): void {
    this.#target = Math.max(this.#target, revision);
  }

  replace(state: Snapshot): void {
    // Before, because the revision may be lower than the one that is kept now.
    this.#record.reset(Math.min(state.revision, this.#record.read() || 0));
    this.#transaction(() => {
      this.#database.exec("DELETE FROM changes; DELETE FROM objects");
      const insert = this.#database.prepare("INSERT INTO objects VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
      for (const [resource, collection] of state.collections) {
        for (const entry of collection.scan("")) {
          const { key, revision, uid, labels, fields, text, checksum } = rowOf(resource, entry, false);
          insert.run(resource, key, revision, uid, labels, fields, text, checksum);
        }
      }
      this.#writeProgress(state.revision, state.revision);
    });
    this.#record.reset(state.revision);
    this.#base = state.revision;
    this.#target = state.revision;
  }

  close(): void {
    if (!this.#database.isOpen) return;
    // A compaction that no write has followed is not in the file yet.
    this.#foldSome(FOLD_AT_ONCE);
    this.#database.close();
    this.#record.close();
  }

  /** After a commit that counts whatever happens here: a record that lags is still true. */
  #note(revision: number): void {
    try {
      this.#record.advance(revision);
    } catch {}
  }

  #openRecord(): RevisionRecord {
    try {
      return new RevisionRecord(`${this.#path}-revision`);
    } catch (error) {
      this.#database.close();
      throw explain(error, `${this.#path}-revision`);
    }
  }

  /** Refuses a file that ends before what was acknowledged: nothing in it shows that its end is missing. */
  #checkEnd(revision: number): void {
    const acknowledged = this.#record.read();
    if (acknowledged !== undefined && !(acknowledged <= revision)) {
      throw incomplete(this.#path, revision, acknowledged, this.#record.path);
    }
    this.#record.reset(revision);
  }

  #load(): Snapshot | undefined {
    this.#check();
    const collections = new Map<string, Collection>();
    const collection = (resource: string) => {
      const known = collections.get(resource) ?? new Collection(this.#base);
      collections.set(resource, known);
      return known;
    };
    for (const row of this.#rows<Row>("SELECT *, 0 AS deleted FROM objects")) {
      collection(row.resource).load(this.#entry(row));
    }
    let newest = this.#target;
    for (const row of this.#rows<ChangeRow>("SELECT * FROM changes ORDER BY revision")) {
      const { key, revision, deleted, at } = row;
      const previous = collection(row.resource).get(key);
      const entry = this.#entry(row);
      collection(row.resource).apply({ revision, key, entry, previous, deleted: deleted === 1, at });
      newest = revision;
    }
    if (newest === 0) return undefined;
    for (const each of collections.values()) each.compact(this.#target);
    return { revision: Math.max(newest, this.#target), compacted: this.#target, collections };
  }

  /** Structure is SQLite's to check, content is ours: a bit that flips in an object is none of SQLite's concern. */
  #check(): void {
    const [problem] = Object.values(this.#database.prepare("PRAGMA quick_check(1)").get() ?? {});
    if (problem !== "ok") throw damaged(this.#path, String(problem));
    const progress = this.#database.prepare("SELECT * FROM progress").get();
    const [base, target] = [Number(progress?.["base"]), Number(progress?.["target"])];
    if (progress?.["checksum"] !== crc32(`${base} ${target}`)) {
      throw damaged(this.#path, "the record of its compaction has changed");
    }
    this.#base = base;
    this.#target = target;
  }

  /**
   * Moves the oldest changes, which clients can no longer request, into the base. A slice at a time, so that no turn of the
   * event loop is long. It runs after a commit that must count whatever happens here, so a failure (a full disk) puts it
   * off: the next commit or the next loading says what is wrong.
   */
  #foldSome(most: number): void {
    if (this.#base >= this.#target) return;
    let folded = this.#base;
    try {
      this.#transaction(() => {
        const last = this.#database
          .prepare(
            "SELECT max(revision) AS last FROM (SELECT revision FROM changes WHERE revision <= ? ORDER BY revision LIMIT ?)",
          )
          .get(this.#target, most)?.["last"];
        const upTo = last === null || last === undefined ? this.#target : Number(last);
        this.#database
          .prepare(
            "DELETE FROM objects WHERE (resource, key) IN (SELECT resource, key FROM changes WHERE revision <= ?)",
          )
          .run(upTo);
        // Of the columns beside max(), SQLite takes the row that has the maximum.
        this.#database
          .prepare(
            `INSERT INTO objects SELECT resource, key, newest, uid, labels, fields, text, checksum FROM
              (SELECT resource, key, max(revision) AS newest, uid, labels, fields, text, checksum, deleted
               FROM changes WHERE revision <= ? GROUP BY resource, key) WHERE deleted = 0`,
          )
          .run(upTo);
        this.#database.prepare("DELETE FROM changes WHERE revision <= ?").run(upTo);
        this.#writeProgress(upTo, this.#target);
        folded = upTo;
      });
      this.#base = folded;
      this.#database.exec(`PRAGMA incremental_vacuum(${most})`);
    } catch {}
  }

  #writeProgress(base: number, target: number): void {
    this.#database
      .prepare("UPDATE progress SET base = ?, target = ?, checksum = ?")
      .run(base, target, crc32(`${base} ${target}`));
  }

  #rows<T>(query: string): Iterable<T> {
    return this.#database.prepare(query).iterate() as unknown as Iterable<T>;
  }

  #entry(row: Row): Entry {
    if (checksumOf(row) !== row.checksum) {
      throw damaged(this.#path, `what is stored of ${row.resource} ${row.key} at revision ${row.revision} has changed`);
    }
    const { key, revision, uid, text } = row;
    const map = (json: string | null) => (json === null ? undefined : (JSON.parse(json) as Record<string, string>));
    return { key, revision, text, uid, labels: map(row.labels), fields: map(row.fields) };
  }

  #transaction(work: () => void): void {
    try {
      this.#database.exec("BEGIN IMMEDIATE");
      work();
      this.#database.exec("COMMIT");
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      throw explain(error, this.#path);
    }
  }
}

function createPrivateFile(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    closeSync(openSync(path, "a", 0o600));
  } catch (error) {
    throw explain(error, path);
  }
}

function rowOf(resource: string, entry: Entry, deleted: boolean): Row {
  const { key, revision, uid, text } = entry;
  const row = {
    resource,
    key,
    revision,
    uid,
    labels: entry.labels ? JSON.stringify(entry.labels) : null,
    fields: entry.fields ? JSON.stringify(entry.fields) : null,
    text,
    deleted: deleted ? 1 : 0,
  };
  return { ...row, checksum: checksumOf(row) };
}

function checksumOf({ resource, key, revision, uid, labels, fields, text, deleted }: Omit<Row, "checksum">): number {
  return crc32(text, crc32(`${resource}\0${key}\0${revision}\0${uid}\0${labels}\0${fields}\0${deleted}\0`));
}
