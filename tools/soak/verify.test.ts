import assert from "node:assert/strict";
import { test } from "node:test";
import { Ledger, type StoredObject, VALUE } from "./ledger.ts";
import { type Told, verify } from "./verify.ts";
import type { Segment, WatchEvent } from "./watcher.ts";

const KEY = "red/a";
const OTHER = "red/b";

function stored(key: string, revision: number, value: string): StoredObject {
  const [namespace, name] = key.split("/") as [string, string];
  return {
    metadata: {
      namespace,
      name,
      uid: `uid-${key}`,
      resourceVersion: String(revision),
      annotations: { [VALUE]: value },
    },
  };
}

function event(type: WatchEvent["type"], key: string, revision: number, value: string): WatchEvent {
  return { type, key, uid: `uid-${key}`, revision, value };
}

/** A short run in which all went well: an object is created and changed, another is created and deleted. */
function wellTold() {
  const ledger = new Ledger();
  const put = (key: string, value: string, revision: number) => {
    const write = ledger.begin({ resource: "configmaps", key, value }, true);
    write.outcome = "acknowledged";
    write.revision = revision;
    return write;
  };
  const first = put(KEY, "v1", 11);
  put(OTHER, "v2", 12);
  const last = put(KEY, "v3", 13);
  const deletion = ledger.begin({ resource: "configmaps", key: OTHER }, true);
  deletion.outcome = "acknowledged";
  const segment: Segment = {
    from: 10,
    listed: [],
    events: [
      event("ADDED", KEY, 11, "v1"),
      event("ADDED", OTHER, 12, "v2"),
      event("MODIFIED", KEY, 13, "v3"),
      event("DELETED", OTHER, 14, "v2"),
    ],
    to: 14,
  };
  const watcher: Told = { name: "watcher", resource: { plural: "configmaps" }, segments: [segment] };
  const steps = new Map([["configmaps red/contested", { acknowledged: 0, tried: 1 }]]);
  const final = new Map([["configmaps", [stored(KEY, 13, "v3")]]]);
  return { ledger, first, last, segment, watcher, contender: { name: "c", steps }, final };
}

function failing({ ledger, watcher, contender, final }: ReturnType<typeof wellTold>): string[] {
  return verify(ledger, [watcher], [contender], final)
    .filter(({ problems }) => problems.length > 0)
    .map(({ what }) => what);
}

test("a run in which all went well has no problems", () => {
  assert.deepEqual(failing(wellTold()), []);
});

const faults: Record<string, [spoil: (run: ReturnType<typeof wellTold>) => void, found: string]> = {
  "an acknowledged write that is gone": [
    ({ final }) => final.set("configmaps", []),
    "every acknowledged write is in the final state",
  ],
  "an acknowledged write that is undone": [
    ({ final }) => final.set("configmaps", [stored(KEY, 11, "v1")]),
    "every acknowledged write is in the final state",
  ],
  "a deleted object that is there again": [
    ({ final }) => final.get("configmaps")!.push(stored(OTHER, 12, "v2")),
    "every acknowledged write is in the final state",
  ],
  "a step of a counter that is lost": [
    ({ contender }) => contender.steps.set("configmaps red/contested", { acknowledged: 1, tried: 1 }),
    "every acknowledged step of a contested counter is kept",
  ],
  "a version that two writes have": [
    ({ first, last }) => {
      last.revision = first.revision!;
    },
    "no two writes were given one version",
  ],
  "an event that is lost": [({ segment }) => segment.events.splice(2, 1), "watches tell of every acknowledged write"],
  "an event that comes twice": [
    ({ segment }) => segment.events.splice(3, 0, segment.events[2]!),
    "watches tell in order, and nothing twice",
  ],
  "events in the wrong order": [
    ({ segment }) => segment.events.splice(0, 2, segment.events[1]!, segment.events[0]!),
    "watches tell in order, and nothing twice",
  ],
  "an event of a write that was refused": [
    ({ first }) => {
      first.outcome = "refused";
    },
    "watches tell of nothing that did not happen",
  ],
  "an event that nobody caused": [
    ({ segment }) => segment.events.push(event("MODIFIED", KEY, 15, "v9")),
    "watches tell of nothing that did not happen",
  ],
  "an object that is changed before it is added": [
    ({ segment }) => segment.events.shift(),
    "watches tell each object's story whole",
  ],
  "a deletion that is lost": [
    ({ segment }) => segment.events.pop(),
    "what watches have told adds up to the final state",
  ],
  "a list that lacks what was acknowledged before it": [
    ({ watcher, segment }) => {
      const later = { from: 14, listed: [], events: [], to: 14 };
      Object.assign(watcher, { segments: [segment, later] });
    },
    "lists are the state at their version",
  ],
  "an answer that no server gives": [
    ({ ledger }) => ledger.surprise("200 in place of 409"),
    "every answer was as it must be",
  ],
};

for (const [name, [spoil, found]] of Object.entries(faults)) {
  test(`${name} is found`, () => {
    const run = wellTold();
    spoil(run);
    assert.ok(failing(run).includes(found), `found only: ${failing(run).join("; ")}`);
  });
}

test("a write in doubt may have happened or not, but nothing else may have", () => {
  for (const [value, isWrong] of [
    ["v3", false],
    ["v4", false],
    ["v5", true],
  ] as const) {
    const run = wellTold();
    run.ledger.begin({ resource: "configmaps", key: KEY, value: "v4" }, true).outcome = "doubtful";
    run.final.set("configmaps", [stored(KEY, 15, value)]);
    assert.equal(failing(run).includes("every acknowledged write is in the final state"), isWrong, value);
  }
});
