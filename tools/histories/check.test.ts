import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { check } from "./check.ts";
import {
  type Action,
  emptyHistory,
  type History,
  type Listing,
  type Operation,
  type Result,
  type Retention,
  type Stream,
  type StreamEvent,
  type Version,
} from "./history.ts";

const RETENTION: Retention = { ms: 1000, changes: 100, forgottenByRestart: Number.NEGATIVE_INFINITY };

function version(name: string, revision: number, value: string, shard = "a", uid = `uid-${name}`): Version {
  return { resource: "configmaps", name, uid, revision, value, shard };
}

function operation(called: number, returned: number, name: string, action: Action, result: Result): Operation {
  return { client: "c", resource: "configmaps", name, action, called, returned, result };
}

const write = (verb: "create" | "patch" | "apply", value: string, shard = "a"): Action => ({ verb, value, shard });
const stored = (one: Version): Result => ({ is: "stored", version: one });
const found = (one: Version): Result => ({ is: "found", version: one });
const never = Number.POSITIVE_INFINITY;

function event(type: "ADDED" | "MODIFIED" | "DELETED", at: number, one: Version): StreamEvent {
  return { type, at, version: one };
}

function stream(from: number, events: StreamEvent[], more: Partial<Stream> = {}): Stream {
  const common = { client: "w", resource: "configmaps", called: 0 };
  return { ...common, from, events, ...more };
}

function listing(called: number, at: string, revision: number, items: Version[], more: Partial<Listing> = {}): Listing {
  return {
    client: "l",
    resource: "configmaps",
    called,
    returned: called + 1,
    at,
    isExact: false,
    revision,
    items,
    ...more,
  };
}

const A1 = version("x", 11, "a1");
const A2 = version("x", 12, "a2", "b");
const B1 = version("y", 13, "b1");

/** A short run in which all is well: x is created and changed, y is created and deleted, at revision 14. */
function sound(): History {
  return {
    ...emptyHistory(),
    operations: [
      operation(10, 20, "x", write("create", "a1"), { is: "stored", version: A1, isNew: true }),
      operation(30, 40, "x", { verb: "update", value: "a2", shard: "b", revision: 11 }, stored(A2)),
      operation(42, 50, "y", write("create", "b1"), stored(B1)),
      operation(60, 70, "y", { verb: "delete", uid: "uid-y" }, { is: "deleted", uid: "uid-y" }),
      operation(72, 74, "x", { verb: "get" }, found(A2)),
      operation(72, 75, "y", { verb: "get" }, { is: "absent" }),
    ],
    listings: [listing(52, "", 13, [A2, B1]), listing(80, "", 14, [A2]), listing(80, "0", 11, [A1])],
    streams: [
      stream(10, [
        event("ADDED", 21, A1),
        event("MODIFIED", 41, A2),
        { type: "BOOKMARK", at: 45, revision: 12 },
        event("ADDED", 51, B1),
        event("DELETED", 71, { ...B1, revision: 14 }),
      ]),
      stream(12, [event("ADDED", 51, B1), event("DELETED", 71, { ...B1, revision: 14 })]),
      stream(10, [event("ADDED", 21, A1), event("DELETED", 41, { ...A1, revision: 12 }), event("ADDED", 51, B1)], {
        shard: "a",
      }),
    ],
  };
}

/** The guarantees that a history breaks. */
function broken(history: History, retention = RETENTION): string[] {
  return check(history, retention)
    .filter(({ problems }) => problems.length > 0)
    .map(({ what }) => what);
}

const LINEARIZABLE = "operations on each object are linearizable";
const ONE_CHANGE = "a revision is one change of one object, for all clients";
const GROW = "revisions grow with time";
const RECENT = "reads are as recent as requested";
const LISTS = "lists are the state at their revision";
const ORDER = "watches deliver in order, and nothing twice";
const GAPS = "watches have no gap, and no bookmark is ahead of an event";
const REQUESTED = "watches report only what was requested";
const EXPIRED = "410 is only for what has expired";

/** The guarantees that are broken when only these operations happened, on one object. */
function brokenBy(...operations: Operation[]): string[] {
  return broken({ ...emptyHistory(), operations });
}

test("a history without a fault passes every check", () => assert.deepEqual(broken(sound()), []));

describe("linearizability", () => {
  const created = operation(0, 1, "x", write("create", "a1"), stored(A1));

  test("refuses a read of what was overwritten before it was called", () => {
    const update = operation(2, 3, "x", write("patch", "a2"), stored(A2));
    assert.deepEqual(brokenBy(created, update, operation(4, 5, "x", { verb: "get" }, found(A1))), [LINEARIZABLE]);
  });

  test("accepts either value for a read during the write", () => {
    const update = operation(2, 9, "x", write("patch", "a2"), stored(A2));
    for (const one of [A1, A2]) {
      assert.deepEqual(brokenBy(created, update, operation(3, 8, "x", { verb: "get" }, found(one))), []);
    }
  });

  test("refuses a new value and then the old one, both read during the write", () => {
    const update = operation(2, 9, "x", write("patch", "a2"), stored(A2));
    const reads = [operation(3, 4, "x", { verb: "get" }, found(A2)), operation(5, 6, "x", { verb: "get" }, found(A1))];
    assert.deepEqual(brokenBy(created, update, ...reads), [LINEARIZABLE]);
  });

  test("refuses an acknowledged write that is lost", () => {
    assert.deepEqual(brokenBy(created, operation(2, 3, "x", { verb: "get" }, { is: "absent" })), [LINEARIZABLE]);
  });

  test("refuses two updates of the same revision", () => {
    const update = (value: string, revision: number) =>
      operation(2, 5, "x", { verb: "update", value, shard: "a", revision: 11 }, stored(version("x", revision, value)));
    assert.deepEqual(brokenBy(created, update("a2", 12), update("a3", 13)), [LINEARIZABLE]);
  });

  test("refuses a conflict that nothing explains, and accepts one that a lost response explains", () => {
    const update: Action = { verb: "update", value: "a3", shard: "a", revision: 11 };
    const conflict = operation(4, 5, "x", update, { is: "conflict" });
    const lost = operation(2, never, "x", write("patch", "a2"), { is: "unknown" });
    assert.deepEqual(brokenBy(created, conflict), [LINEARIZABLE]);
    assert.deepEqual(brokenBy(created, lost, conflict), []);
  });

  test("a write whose response was lost may take effect late, but only once", () => {
    const lost = operation(2, never, "x", write("patch", "a2"), { is: "unknown" });
    const get = (at: number, one: Version) => operation(at, at + 1, "x", { verb: "get" }, found(one));
    assert.deepEqual(brokenBy(created, lost, get(4, A1), get(6, A2)), []);
    assert.deepEqual(brokenBy(created, lost, get(4, A1), get(6, A2), get(8, A1)), [LINEARIZABLE]);
  });

  test("a deletion whose response was lost explains that the object is absent, and no other does", () => {
    const absent = operation(4, 5, "x", { verb: "get" }, { is: "absent" });
    const lost = (action: Action) => operation(2, never, "x", action, { is: "unknown" });
    assert.deepEqual(brokenBy(created, lost({ verb: "delete", uid: "uid-x" }), absent), []);
    assert.deepEqual(brokenBy(created, lost({ verb: "delete", uid: "another" }), absent), [LINEARIZABLE]);
    assert.deepEqual(brokenBy(created, lost({ verb: "delete", revision: 10 }), absent), [LINEARIZABLE]);
  });

  test("an object that was recreated by lost responses explains a conflict of uids", () => {
    const lost = (action: Action) => operation(2, never, "x", action, { is: "unknown" });
    const conflict = operation(4, 5, "x", { verb: "delete", uid: "uid-x" }, { is: "conflict" });
    assert.deepEqual(brokenBy(created, lost({ verb: "delete" }), lost(write("create", "a2")), conflict), []);
    assert.deepEqual(brokenBy(created, lost({ verb: "delete" }), conflict), [LINEARIZABLE]);
    assert.deepEqual(brokenBy(created, lost(write("patch", "a2")), conflict), [LINEARIZABLE]);
  });

  test("refuses a deletion whose precondition did not hold", () => {
    const deleted = operation(2, 3, "x", { verb: "delete", revision: 10 }, { is: "deleted", uid: "uid-x" });
    assert.deepEqual(brokenBy(created, deleted), [LINEARIZABLE]);
  });

  test("refuses that two creates of one object succeed, and that an apply creates what exists", () => {
    const again = operation(2, 3, "x", write("create", "a2"), stored(A2));
    const applied = operation(2, 3, "x", write("apply", "a2"), { is: "stored", version: A2, isNew: true });
    assert.deepEqual(brokenBy(created, again), [LINEARIZABLE]);
    assert.deepEqual(brokenBy(created, applied), [LINEARIZABLE]);
  });

  test("refuses another uid after a write", () => {
    const patched = operation(2, 3, "x", write("patch", "a2"), stored(version("x", 12, "a2", "a", "other")));
    assert.deepEqual(brokenBy(created, patched), [LINEARIZABLE]);
  });

  test("a refused write has no effect", () => {
    const refused = operation(2, 3, "x", write("patch", "a2"), { is: "refused" });
    assert.deepEqual(brokenBy(created, refused, operation(4, 5, "x", { verb: "get" }, found(A1))), []);
    assert.deepEqual(brokenBy(created, refused, operation(4, 5, "x", { verb: "get" }, found(A2))), [LINEARIZABLE]);
  });

  test("decides a long history with many lost responses", () => {
    const operations = [created];
    for (let i = 1; i <= 60; i++) {
      const next = version("x", 11 + i, `w${i}`);
      operations.push(operation(i * 10, never, "x", write("patch", `lost${i}`), { is: "unknown" }));
      operations.push(operation(i * 10 + 1, i * 10 + 6, "x", write("patch", next.value), stored(next)));
      operations.push(operation(i * 10 + 7, i * 10 + 8, "x", { verb: "get" }, found(next)));
    }
    assert.deepEqual(brokenBy(...operations), []);
    operations.push(operation(900, 901, "x", { verb: "get" }, found(version("x", 70, "w59"))));
    assert.deepEqual(brokenBy(...operations), [LINEARIZABLE]);
  });
});

describe("revisions", () => {
  test("refuses a revision that two objects have", () => {
    const history = sound();
    history.operations.push(operation(43, 90, "z", write("create", "z1"), stored(version("z", 13, "z1"))));
    assert.ok(broken(history).includes(ONE_CHANGE));
  });

  test("refuses one write at two revisions", () => {
    const history = sound();
    history.listings.push(listing(80, "0", 14, [{ ...A2, revision: 14 }]));
    assert.ok(broken(history).includes(ONE_CHANGE));
  });

  test("refuses a write with a lower revision than was observed before, also of another object or in a bookmark", () => {
    const history = sound();
    const late = version("z", 15, "z1");
    history.operations.push(operation(100, 101, "z", write("create", "z1"), stored(late)));
    assert.deepEqual(broken(history), []);
    history.streams[1]!.events.push({ type: "BOOKMARK", at: 99, revision: 20 });
    assert.ok(broken(history).includes(GROW));
  });
});

describe("lists", () => {
  test("refuses a consistent list that is older than what was observed before it", () => {
    const history = sound();
    history.listings.push(listing(80, "", 13, [A2, B1]));
    assert.deepEqual(broken(history), [RECENT]);
  });

  test("refuses a list older than the requested revision, and one that is not exactly of it", () => {
    const older = sound();
    older.listings.push(listing(80, "13", 12, [A2]));
    assert.deepEqual(broken(older), [RECENT]);
    const newer = sound();
    newer.listings.push(listing(80, "12", 13, [A2, B1], { isExact: true }));
    assert.deepEqual(broken(newer), [RECENT]);
  });

  test("refuses a read not older than a revision that is older", () => {
    const history = sound();
    history.operations.push(operation(80, 81, "x", { verb: "get", at: "12" }, found(A1)));
    assert.deepEqual(broken(history), [RECENT]);
  });

  test("refuses a list without an object, with a deleted one, with an old one, or with one twice", () => {
    for (const items of [[], [A2, B1], [A1], [A2, A2]]) {
      const history = sound();
      history.listings.push(listing(80, "", 14, items));
      assert.deepEqual(broken(history), [LISTS]);
    }
  });

  test("a missing object may have been deleted where no watch covers it", () => {
    const history = { ...emptyHistory(), listings: [listing(80, "", 14, [])] };
    history.operations.push(operation(10, 20, "x", write("create", "a1"), stored(A1)));
    assert.deepEqual(broken(history), [LISTS]);
    history.operations.push(operation(30, never, "x", { verb: "delete" }, { is: "unknown" }));
    assert.deepEqual(broken(history), []);
  });
});

describe("watches", () => {
  const changed = (change: (events: StreamEvent[]) => StreamEvent[], which = 0) => {
    const history = sound();
    const one = history.streams[which]!;
    history.streams[which] = { ...one, events: change(one.events) };
    return broken(history);
  };

  test("refuses a missing event", () => {
    assert.deepEqual(
      changed((events) => events.toSpliced(1, 1)),
      [GAPS],
    );
  });

  test("refuses an event that is missing after a watch was resumed", () => {
    assert.deepEqual(
      changed((events) => events.slice(1), 1),
      [GAPS],
    );
  });

  test("refuses an event twice, and events out of order", () => {
    assert.deepEqual(
      changed((events) => [...events, events.at(-1)!]),
      [ORDER],
    );
    assert.deepEqual(
      changed((events) => [events[1]!, events[0]!, ...events.slice(2)]),
      [ORDER],
    );
  });

  test("refuses a bookmark ahead of an event that comes later or never, and one that goes back", () => {
    assert.deepEqual(
      changed((events) => events.toSpliced(2, 1, { type: "BOOKMARK", at: 45, revision: 13 })),
      [ORDER],
    );
    assert.deepEqual(
      changed((events) => [...events.slice(0, 3), { type: "BOOKMARK", at: 75, revision: 14 }]),
      [GAPS],
    );
    assert.deepEqual(
      changed((events) => events.toSpliced(2, 1, { type: "BOOKMARK", at: 45, revision: 11 })),
      [ORDER],
    );
  });

  test("refuses MODIFIED for a new object, and ADDED for a known one", () => {
    assert.deepEqual(
      changed((events) => events.toSpliced(0, 1, event("MODIFIED", 21, A1))),
      [GAPS],
    );
    assert.deepEqual(
      changed((events) => events.toSpliced(1, 1, event("ADDED", 41, A2))),
      [GAPS],
    );
  });

  test("refuses an event of another value, of a write that was refused, or before its request", () => {
    assert.ok(
      changed((events) => events.toSpliced(0, 1, event("ADDED", 21, { ...A1, value: "a9" }))).includes(REQUESTED),
    );
    assert.ok(changed((events) => events.toSpliced(0, 1, event("ADDED", 5, A1))).includes(REQUESTED));
    const refused = sound();
    refused.operations.push(operation(75, 76, "z", write("create", "z1"), { is: "refused" }));
    refused.streams[0]!.events.push(event("ADDED", 80, version("z", 15, "z1")));
    assert.deepEqual(broken(refused), [REQUESTED]);
  });

  test("refuses a deletion that was not requested", () => {
    const history = sound();
    history.streams[0]!.events.push(event("DELETED", 100, { ...A2, revision: 15 }));
    assert.deepEqual(broken(history), [REQUESTED]);
  });

  test("with a selector, refuses a missing event when the label changes, and events of other labels", () => {
    assert.deepEqual(
      changed((events) => events.toSpliced(1, 1), 2),
      [GAPS],
    );
    assert.deepEqual(
      changed((events) => events.toSpliced(1, 1, event("MODIFIED", 41, A2)), 2),
      [GAPS],
    );
  });

  test("410 is refused for a young revision, unless it was discarded or a restart forgets it", () => {
    const history = sound();
    history.expirations.push({ client: "w", what: "watch", resource: "configmaps", revision: 12, at: 300 });
    assert.deepEqual(broken(history), [EXPIRED]);
    assert.deepEqual(broken({ ...history, compactions: [{ at: 250, revision: 13 }] }), []);
    assert.deepEqual(broken({ ...history, compactions: [{ at: 250, revision: 11 }] }), [EXPIRED]);
    assert.deepEqual(broken({ ...history, restarts: [200] }), [EXPIRED]);
    const forgetful = (ms: number) => ({ ...RETENTION, forgottenByRestart: ms });
    assert.deepEqual(broken({ ...history, restarts: [200] }, forgetful(0)), []);
    assert.deepEqual(broken({ ...history, restarts: [20] }, forgetful(10)), [EXPIRED]);
    assert.deepEqual(broken({ ...history, restarts: [20] }, forgetful(11)), []);
    assert.deepEqual(broken(history, { ...RETENTION, ms: 200 }), []);
    assert.deepEqual(broken(history, { ...RETENTION, changes: 2 }), []);
  });

  test("410 is accepted where a write that no client has observed may be old enough", () => {
    const history = sound();
    history.operations.push(operation(900, 910, "x", write("patch", "a3"), stored(version("x", 20, "a3"))));
    const expire = (revision: number, at: number) =>
      broken({ ...history, expirations: [{ client: "w", what: "watch", resource: "configmaps", revision, at }] });
    // What no client has observed, 15 to 19, came after 13, which was requested at 42.
    assert.deepEqual(expire(14, 1041), [EXPIRED]);
    assert.deepEqual(expire(14, 1042), []);
    assert.deepEqual(expire(20, 1899), [EXPIRED]);
  });
});

test("refuses what a client called a surprise", () => {
  assert.deepEqual(broken({ ...sound(), surprises: ["500"] }), ["every response is one that a correct server gives"]);
});
