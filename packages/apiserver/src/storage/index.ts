/**
 * All state of the API server, and its recent past.
 *
 * A {@link Store} has one revision counter and a collection of entries for each resource; a write commits a change, which
 * watchers see once it is durable. A {@link SqliteJournal} makes it outlive the process. Snapshots and forks take
 * microseconds, and can be saved as bytes.
 *
 * It promises that revisions only grow, that every change is seen once and in order, and that nothing acknowledged is lost
 * when the process is killed (what holds after a power failure is said at {@link SqliteJournal}).
 */
export type { Collection, Entry, StoredChange } from "./collection.ts";
export type { Journal, JournalRecord, Snapshot } from "./journal.ts";
export { decodeSnapshot, encodeSnapshot, loadSnapshot, saveSnapshot } from "./snapshot-file.ts";
export { SqliteJournal, type SqliteJournalOptions } from "./sqlite-journal.ts";
export { type Durability, JournalError } from "./sqlite-schema.ts";
export { type EntryContent, Store, type StoreHistory, type StoreOptions } from "./store.ts";
