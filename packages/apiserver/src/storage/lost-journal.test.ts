import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { realClock, VirtualClock } from "@konverge/core";
import { SqliteJournal } from "./sqlite-journal.ts";
import { type EntryContent, Store } from "./store.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "konverge-lost-")));
after(() => rmSync(folder, { recursive: true }));
let folders = 0;
function newFolder(): string {
  const path = join(folder, String(folders++));
  mkdirSync(path);
  return path;
}

const content =
  (value: string) =>
  (revision: number): EntryContent => ({ text: JSON.stringify({ value, revision }), uid: "u", labels: {}, fields: {} });
const open = (path: string) => new Store({ clock: new VirtualClock(), journal: new SqliteJournal({ path }) });

const FILES = ["", "-wal", "-revision"];

/** The files of a journal with 20 objects, as a process that was killed leaves them: the log is not part of the database yet. */
function killed(): { path: string; acknowledged: number } {
  const path = join(newFolder(), "state.db");
  const store = open(path);
  for (let i = 0; i < 20; i++) {
    store.put("pods", `ns/${i}`, content("x".repeat(2000)));
    store.snapshot();
  }
  const copy = join(newFolder(), "state.db");
  for (const suffix of FILES) copyFileSync(path + suffix, copy + suffix);
  const acknowledged = store.revision;
  store.close();
  return { path: copy, acknowledged };
}

test("a log that was cut is refused, with what can be done, wherever it was cut", () => {
  for (const part of [0, 0.3, 0.6, 0.95]) {
    const { path, acknowledged } = killed();
    truncateSync(`${path}-wal`, Math.floor(readFileSync(`${path}-wal`).length * part));
    assert.throws(
      () => open(path),
      (error: Error & { code: string }) => {
        assert.equal(error.code, "Damaged");
        assert.match(error.message, new RegExp(`ends at revision \\d+, but revision ${acknowledged} was acknowledged`));
        assert.match(
          error.message,
          /Restore a copy of all its files or a saved snapshot, or remove .*-revision to continue/,
        );
        return true;
      },
      `cut at ${part}`,
    );
    rmSync(`${path}-revision`);
    const store = open(path);
    assert.ok(store.revision < acknowledged);
    store.put("pods", "ns/new", content("1"));
    store.close();
    open(path).close();
  }
});

test("a missing log and a missing database are refused as well", () => {
  const withoutLog = killed();
  rmSync(`${withoutLog.path}-wal`);
  assert.throws(() => open(withoutLog.path), { code: "Damaged", message: /was acknowledged/ });
  const without = killed();
  rmSync(without.path);
  rmSync(`${without.path}-wal`);
  assert.throws(() => open(without.path), { code: "Damaged", message: /ends at revision 0/ });
});

test("what is whole starts: after a kill, without the record of an earlier version, and with a record that lags", () => {
  const { path, acknowledged } = killed();
  const record = readFileSync(`${path}-revision`);
  let store = open(path);
  assert.equal(store.revision, acknowledged);
  store.put("pods", "ns/later", content("1"));
  store.close();
  writeFileSync(`${path}-revision`, record);
  store = open(path);
  assert.equal(store.revision, acknowledged + 1);
  store.close();
  rmSync(`${path}-revision`);
  open(path).close();
});

test("a write to the record that was cut leaves the one before, and a record without any is refused", () => {
  const { path, acknowledged } = killed();
  const record = readFileSync(`${path}-revision`);
  for (let cut = 0; cut < record.length; cut += 7) {
    const damaged = Uint8Array.from(record);
    damaged[cut]! ^= 1;
    writeFileSync(`${path}-revision`, damaged);
    const store = open(path);
    assert.equal(store.revision, acknowledged);
    store.close();
  }
  writeFileSync(`${path}-revision`, "nothing of the kind");
  assert.throws(() => open(path), { code: "Damaged", message: /-revision, which says how far .* goes, is damaged/ });
});

test("a store that goes back to an earlier state is not taken for one that lost its end", () => {
  const path = join(newFolder(), "state.db");
  const store = open(path);
  store.put("pods", "a", content("1"));
  const early = store.snapshot();
  for (let i = 0; i < 10; i++) store.put("pods", `b${i}`, content("1"));
  store.snapshot();
  store.restore(early);
  const { revision } = store;
  store.close();
  const again = open(path);
  assert.equal(again.revision, revision);
  again.close();
});

const layer = join(folder, "synced-files.so");
const source = fileURLToPath(new URL("../../test/synced-files.c", import.meta.url));
const child = fileURLToPath(new URL("../../test/sqlite-journal.child.ts", import.meta.url));

suite("when the power fails", { skip: withoutLayer() }, () => {
  for (const durability of ["power", "process"] as const) {
    test(`durability ${durability}: ${durability === "power" ? "nothing that was acknowledged is lost" : "the state is an earlier one, and consistent"}`, async () => {
      let lost = 0;
      for (const patience of [1, 40, 400]) {
        const [disk, synced] = [newFolder(), newFolder()];
        const acknowledged = await writeUntil(patience, { disk, synced, durability });
        tryPartlyWritten(disk, synced, durability === "power" ? acknowledged : 0);
        const store = openConsistent(synced);
        lost += Math.max(0, acknowledged - store.revision);
        store.close();
      }
      if (durability === "power") assert.equal(lost, 0);
      else assert.ok(lost > 0, "the layer drops what was not synced");
    });
  }
});

/** What was not synced may have been written nevertheless, any block of it: less and less of it is. */
function tryPartlyWritten(disk: string, synced: string, acknowledged: number): void {
  const { random } = realClock(20);
  for (let attempt = 1; attempt < 8; attempt++) {
    const found = newFolder();
    for (const name of readdirSync(disk)) {
      const [now, before] = [join(disk, name), join(synced, name)].map((path) =>
        existsSync(path) ? readFileSync(path) : undefined,
      );
      const blocks = [];
      for (let at = 0; at < now!.length; at += BLOCK) {
        const kept = before?.subarray(at, at + BLOCK) ?? Buffer.alloc(0);
        if (random.below(attempt) === 0) blocks.push(now!.subarray(at, at + BLOCK));
        else blocks.push(Buffer.concat([kept, Buffer.alloc(BLOCK - kept.length)]));
      }
      if (before || random.below(2) === 0) writeFileSync(join(found, name), Buffer.concat(blocks));
    }
    try {
      const store = openConsistent(found);
      assert.ok(store.revision >= acknowledged, `${store.revision} of ${acknowledged}`);
      store.close();
    } catch (error) {
      // With durability `process`, the record of the last revision may have outlived the changes.
      if (acknowledged > 0 || !/was acknowledged|says how far/.test(String(error))) throw error;
    }
  }
}

const BLOCK = 4096;

/** Each object is what was written at its revision. */
function openConsistent(folder: string): Store {
  const store = open(join(folder, "state.db"));
  for (const { revision, text } of store.collection("things").scan("")) {
    assert.equal((JSON.parse(text) as { revision: number }).revision, revision);
  }
  return store;
}

/** Why there is no file layer that drops what was not synced. */
function withoutLayer(): string | false {
  if (process.platform !== "linux") return "the file layer is for Linux";
  const compiled = spawnSync("cc", ["-shared", "-fPIC", "-o", layer, source, "-ldl"], { encoding: "utf8" });
  return existsSync(layer) ? false : `no C compiler: ${compiled.error?.message ?? compiled.stderr}`;
}

/** Runs writers on a disk of which only what was synced is kept, and kills them; the last revision that they reported. */
async function writeUntil(
  patience: number,
  { disk, synced, durability }: { disk: string; synced: string; durability: string },
) {
  const env = { ...process.env, LD_PRELOAD: layer, SYNCED_FROM: disk, SYNCED_TO: synced };
  const writers = spawn(process.execPath, [child, join(disk, "state.db"), "1", durability], {
    stdio: ["ignore", "pipe", "inherit"],
    env,
  });
  let acknowledged = 0;
  let left = patience;
  for await (const line of createInterface({ input: writers.stdout })) {
    acknowledged = Math.max(acknowledged, Number(line.split(" ")[0]));
    if (--left === 0) writers.kill("SIGKILL");
  }
  return acknowledged;
}
