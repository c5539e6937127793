// A process that writes until it is killed, for sqlite-journal.test.ts: each line it prints is an acknowledged revision.
import { writeSync } from "node:fs";
import { realClock } from "@konverge/core";
import { SqliteJournal } from "../src/storage/sqlite-journal.ts";
import { Store } from "../src/storage/store.ts";

const [path, seed, durability = "process"] = process.argv.slice(2) as [string, string, "process" | "power"];
const clock = realClock(Number(seed));
const store = new Store({ clock, journal: new SqliteJournal({ path, durability }), history: { ms: 20, changes: 40 } });

async function writer(name: string): Promise<never> {
  for (let i = 0; ; i++) {
    const key = `${name}/${clock.random.below(20)}`;
    const exists = store.collection("things").get(key) !== undefined;
    const content = (revision: number) => ({
      text: JSON.stringify({ name, i, revision, filler: "x".repeat(clock.random.below(3000)) }),
      uid: name,
      labels: { i: String(i) },
      fields: undefined,
    });
    const remove = exists && clock.random.below(3) === 0;
    const { revision } = remove ? store.remove("things", key, content) : store.put("things", key, content);
    await store.durable();
    writeSync(1, `${revision} ${remove ? "-" : "+"} ${key}\n`);
  }
}

await Promise.all(["a", "b", "c"].map(writer));
