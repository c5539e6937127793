import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Member, nextStep, type Situation } from "./leadership.ts";
import { canStandForAll, parseConfirming } from "./quorum.ts";
import { parseServerReport, type ServerReport } from "./server-report.ts";

const uid = (name: string) => `uid of ${name}`;
const server = (
  name: string,
  report?: Partial<ServerReport>,
  pod: Partial<NonNullable<Member["pod"]>> = {},
): Member => ({
  name,
  pod: { uid: uid(name), ready: true, ending: false, dead: false, node: `node of ${name}`, ...pod },
  report: report && { role: "standby", term: 1, timeline: 1, lsn: 100n, streaming: true, ...report },
});
const situation = (given: Partial<Situation>): Situation => ({
  topology: { term: 1, primary: "a", upstream: "a", fresh: false },
  members: [server("a", { role: "primary" }), server("b", {}), server("c", {})],
  confirming: [undefined, undefined],
  delay: 30_000,
  allowDataLoss: false,
  switchoverTo: undefined,
  lostSince: undefined,
  now: 1_000_000,
  ...given,
});
const away = (name: string) => server(name, undefined, { ready: false });
const bothConfirm = { required: 1, names: ["b", "c"] };

test("while the primary answers nothing changes", () => {
  const given = situation({});
  assert.deepEqual(nextStep(given), { topology: given.topology });
});

test("a primary that is away has its delay to come back", () => {
  const members = [away("a"), server("b", {}), server("c", {})];
  const first = nextStep(situation({ members, allowDataLoss: true }));
  assert.equal(first.topology.primary, "a");
  assert.deepEqual([first.lostSince, first.after], [1_000_000, 30_000]);
  const late = nextStep(situation({ members, allowDataLoss: true, lostSince: 970_000 }));
  assert.deepEqual(late.topology.operation, { kind: "failover", from: "a", since: 1_000_000 });
  assert.deepEqual([late.topology.primary, late.topology.upstream, late.topology.term], ["", "", 2]);
});

test("a primary that answers is not away, whatever the rest of its pod does", () => {
  const answers = server("a", { role: "primary", confirming: "" }, { ready: false });
  const members = [answers, server("b", {}), server("c", {})];
  const given = situation({ members, lostSince: 0, allowDataLoss: true });
  assert.deepEqual(nextStep(given), { topology: given.topology });
  const hangs = server("a", { role: "primary" }, { ready: false });
  const failed = nextStep(situation({ members: [hangs, ...members.slice(1)], lostSince: 0, allowDataLoss: true }));
  assert.equal(failed.topology.operation?.kind, "failover", "a server that does not answer queries is away");
  const ending = server("a", { role: "primary", confirming: "" }, { ending: true });
  assert.equal(nextStep(situation({ members: [ending, ...members.slice(1)] })).lostSince, 1_000_000);
});

test("a primary whose pod is deleted hands over to a standby that has all of it, without waiting", () => {
  const ending = (report: Partial<ServerReport>) => server("a", { term: 1, ...report }, { ending: true });
  const standbys = [server("b", { lsn: 100n }), server("c", { lsn: 120n })];
  const stopping = nextStep(situation({ members: [ending({ role: "stopping" }), ...standbys], lostSince: 900_000 }));
  assert.deepEqual([stopping.topology.primary, stopping.problem?.reason], ["a", "SwitchingOver"]);
  const begun = nextStep(situation({ members: [ending({ role: "stopped", lsn: 110n }), ...standbys] })).topology;
  assert.deepEqual([begun.primary, begun.upstream, begun.term, begun.operation?.to], ["", "a", 2, "c"]);
  // The position where it ended is recorded: its pod is deleted now.
  const deleted: Member = { name: "a", pod: undefined, report: undefined };
  const done = nextStep(situation({ topology: begun, members: [deleted, ...standbys] }));
  assert.deepEqual([done.topology.primary, done.event?.reason], ["c", "SwitchedOver"]);
  const lacking = [deleted, server("b", { lsn: 100n }), server("c", { lsn: 105n })];
  assert.equal(nextStep(situation({ topology: begun, members: lacking })).topology.primary, "");
});

test("a primary whose pod is deleted and that takes long to stop does not hold up standbys that confirm", () => {
  const members = [server("a", { role: "stopping" }, { ending: true }), server("b", {}), server("c", {})];
  const step = nextStep(situation({ members, lostSince: 900_000, confirming: [bothConfirm, bothConfirm] }));
  assert.equal(step.topology.operation?.kind, "failover");
});

test("a standby that answers can be the next primary, whatever the rest of its pod does", () => {
  const members = [server("a", { role: "primary", confirming: "" }), server("b", {}, { ready: false })];
  assert.equal(nextStep(situation({ members, switchoverTo: "b" })).topology.prepared?.to, "b");
});

test("without allowDataLoss, no standby is promoted that may lack acknowledged commits", () => {
  const members = [away("a"), server("b", {}), server("c", {})];
  const blocked = nextStep(situation({ members, lostSince: 0 }));
  assert.equal(blocked.problem?.reason, "FailoverBlocked");
  assert.equal(blocked.topology.primary, "a");
  const confirming = [bothConfirm, undefined];
  assert.equal(nextStep(situation({ members, lostSince: 0, confirming })).problem?.reason, "FailoverBlocked");
  const safe = nextStep(situation({ members, lostSince: 0, confirming: [bothConfirm, bothConfirm] }));
  assert.equal(safe.topology.operation?.kind, "failover");
  const silent = [away("a"), server("b"), server("c")];
  assert.equal(
    nextStep(situation({ members: silent, lostSince: 0, allowDataLoss: true })).problem?.reason,
    "NoCandidate",
  );
});

test("the first server may make its data until it answers queries, even if its pod is ready before", () => {
  const fresh = { term: 1, primary: "a", upstream: "a", fresh: true };
  const members = [server("a", { role: "waiting" }), server("b", { role: "waiting" })];
  assert.deepEqual(nextStep(situation({ topology: fresh, members })).topology, fresh);
});

test("a database that was never up, and one with a single server, has no standby to promote", () => {
  const fresh = { term: 1, primary: "a", upstream: "a", fresh: true };
  for (const given of [
    situation({ topology: fresh, members: [away("a"), server("b", {})], lostSince: 0, allowDataLoss: true }),
    situation({ members: [away("a")], lostSince: 0, allowDataLoss: true }),
  ]) {
    assert.deepEqual(nextStep(given).topology, given.topology);
  }
});

test("a switchover waits for one that streams, and ends when it has all", () => {
  const lagging = [server("a", { role: "primary" }), server("b", { streaming: false }), server("c", {})];
  assert.equal(nextStep(situation({ members: lagging, switchoverTo: "b" })).problem?.reason, "SwitchoverWaits");
  assert.equal(nextStep(situation({ switchoverTo: "z" })).problem?.reason, "SwitchoverWaits");
  assert.equal(nextStep(situation({ switchoverTo: "a" })).switched, "a");
  const prepared = nextStep(situation({ switchoverTo: "c" })).topology;
  assert.deepEqual([prepared.primary, prepared.term, prepared.prepared?.to], ["a", 1, "c"]);
  assert.equal(nextStep(situation({ topology: prepared, switchoverTo: "c" })).topology.primary, "a", "its checkpoint");
  assert.equal(nextStep(situation({ topology: prepared })).topology.prepared, undefined, "nobody asks any more");
  const flushed = [server("a", { role: "primary", checkpoint: 1_000_000 }), server("b", {}), server("c", {})];
  const begun = nextStep(situation({ topology: prepared, members: flushed, switchoverTo: "c" })).topology;
  assert.deepEqual([begun.primary, begun.upstream], ["", "a"]);
  const half = [server("a", { role: "stopped", term: 2, lsn: 100n }), server("b", {}), server("c", { lsn: 100n })];
  assert.equal(nextStep(situation({ topology: begun, members: half })).topology.primary, "");
  const whole = [server("a", { role: "stopped", term: 2, lsn: 100n }), server("b", {}), server("c", { lsn: 120n })];
  const done = nextStep(situation({ topology: begun, members: whole }));
  assert.deepEqual([done.topology.primary, done.topology.term, done.switched], ["c", 3, "c"]);
  const { topology: noted } = nextStep(situation({ topology: begun, members: half, now: 1_090_000 }));
  assert.equal(noted.operation?.stopped, 1_090_000, "the next one has its time from then on");
  assert.equal(nextStep(situation({ topology: noted, members: half, now: 1_140_000 })).topology.primary, "");
  const late = nextStep(situation({ topology: noted, members: half, now: 1_200_000 }));
  assert.deepEqual([late.topology.primary, late.topology.term, late.event?.reason], ["a", 3, "SwitchoverGivenUp"]);
});

test("a checkpoint that is not made in time, or a stop that takes long, does not keep a primary from handing over", () => {
  const prepared = { term: 1, primary: "a", upstream: "a", fresh: false, prepared: { to: "c", since: 1_000_000 } };
  const begun = nextStep(situation({ topology: prepared, switchoverTo: "c", now: 1_120_000 })).topology;
  assert.equal(begun.operation?.kind, "switchover");
  const stopping = [server("a", { role: "stopping", term: 2 }), server("b", {}), server("c", {})];
  assert.equal(nextStep(situation({ topology: begun, members: stopping, now: 1_400_000 })).topology.primary, "");
  const silent = [server("a", { role: "primary", term: 1 }), server("b", {}), server("c", {})];
  const givenUp = nextStep(situation({ topology: begun, members: silent, now: 1_400_000 }));
  assert.equal(givenUp.event?.reason, "SwitchoverGivenUp");
});

test("an abandoned switchover is retried with increasing delays", () => {
  const topology = (count: number) => ({ ...situation({}).topology, givenUp: { count, at: 1_000_000 } });
  const wait = (count: number) => nextStep(situation({ topology: topology(count), switchoverTo: "b" }));
  assert.deepEqual(
    [1, 2, 3, 20].map((count) => wait(count).after),
    [60_000, 120_000, 240_000, 1_800_000],
  );
  assert.equal(wait(1).problem?.reason, "SwitchoverWaits");
  const operation = { kind: "switchover" as const, from: "a", to: "b", since: 0 };
  const under = { term: 2, primary: "", upstream: "a", fresh: false, operation, givenUp: { count: 1, at: 0 } };
  assert.deepEqual(nextStep(situation({ topology: under })).topology.givenUp, { count: 2, at: 1_000_000 });
});

test("the standby with the most WAL is promoted", () => {
  const operation = { kind: "failover" as const, from: "a", since: 990_000, fence: "" };
  const topology = { term: 2, primary: "", upstream: "", fresh: false, operation };
  const members: Member[] = [
    { name: "a", pod: undefined, report: undefined },
    server("b", { term: 2, lsn: 300n }),
    server("c", { term: 2, lsn: 400n }),
    server("d", { term: 2, lsn: 200n, timeline: 2 }),
  ];
  assert.equal(nextStep(situation({ topology, members, allowDataLoss: true })).topology.primary, "d");
  assert.equal(
    nextStep(situation({ topology, members: members.slice(0, 3), allowDataLoss: true })).topology.primary,
    "c",
  );
});

test("an old primary that no standby can replace becomes the primary again", () => {
  const operation = { kind: "failover" as const, from: "a", since: 0, fence: "" };
  const topology = { term: 2, primary: "", upstream: "", fresh: false, operation };
  const step = nextStep(situation({ topology, members: [server("a", { role: "stopped", term: 2 }), server("b")] }));
  assert.deepEqual([step.topology.primary, step.topology.term, step.event?.reason], ["a", 3, "FailoverGivenUp"]);
});

/** Any state of a server. */
const anyMember = (name: string) =>
  fc.record({
    name: fc.constant(name),
    pod: fc.option(
      fc.record({
        uid: fc.constantFrom(uid(name), "another"),
        ready: fc.boolean(),
        ending: fc.boolean(),
        dead: fc.boolean(),
        node: fc.constant("node"),
      }),
      { nil: undefined },
    ),
    report: fc.option(
      fc.record({
        role: fc.constantFrom("primary", "standby", "stopping", "stopped", "waiting", "joining", "empty"),
        term: fc.integer({ min: 1, max: 4 }),
        timeline: fc.integer({ min: 1, max: 3 }),
        lsn: fc.bigInt({ min: 1n, max: 9n }),
        streaming: fc.boolean(),
      }),
      { nil: undefined },
    ),
  });
const anySituation = fc.record({
  topology: fc.record({
    term: fc.constant(3),
    primary: fc.constant(""),
    upstream: fc.constant(""),
    fresh: fc.constant(false),
    operation: fc.record({
      kind: fc.constant("failover" as const),
      from: fc.constant("a"),
      since: fc.constantFrom(0, 1_000_000),
      fence: fc.constantFrom("", uid("a"), undefined),
    }),
  }),
  members: fc.tuple(anyMember("a"), anyMember("b"), anyMember("c")),
  confirming: fc.constantFrom([undefined, undefined], [bothConfirm, bothConfirm], [bothConfirm, undefined]),
  delay: fc.constant(30_000),
  allowDataLoss: fc.boolean(),
  switchoverTo: fc.constant(undefined),
  lostSince: fc.constant(undefined),
  now: fc.constant(1_000_500),
});

test("no standby is promoted while the old primary could still acknowledge a commit", () => {
  fc.assert(
    fc.property(anySituation, (given) => {
      const { topology } = nextStep(given as Situation);
      assert.ok(topology.term >= given.topology.term);
      if (topology.primary === "" || topology.primary === "a") return;
      const [old, ...standbys] = given.members;
      const detached = standbys.filter(({ report }) => report?.role === "standby" && report.term >= 3);
      const names = detached.map(({ name }) => name);
      const isConfirmed = given.confirming.every((one) => one !== undefined && canStandForAll(one, names));
      const isUp = old.report?.role === "primary" || old.report?.role === "stopping";
      const hasStopped = old.report !== undefined && old.report.term >= 3 && !isUp;
      const isDeleted = !old.pod || old.pod.uid !== given.topology.operation.fence || old.pod.dead || hasStopped;
      assert.ok(given.topology.operation.fence !== undefined, "it is written down first whose pod must be gone");
      assert.ok(isConfirmed || (isDeleted && given.allowDataLoss), "it is neither safe nor allowed");
      const chosen = detached.find(({ name }) => name === topology.primary);
      assert.ok(chosen, "only a standby that is detached from the old primary may lead");
    }),
    { numRuns: 2_000 },
  );
});

test("what was confirmed to a client is on one of those that can stand for all", () => {
  const names = ["b", "c", "d", "e"];
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 4 }),
      fc.subarray(names),
      fc.shuffledSubarray(names),
      (required, detached, order) => {
        const confirmed = order.slice(0, required);
        if (confirmed.length < required || !canStandForAll({ required, names }, detached)) return;
        assert.ok(confirmed.some((name) => detached.includes(name)));
        assert.ok(names.length - detached.length < required, "nothing more can be confirmed");
      },
    ),
  );
});

test("what servers say is read, and nonsense is no report", () => {
  const said =
    'role=primary\nterm=4\nlsn=1/A0\ntimeline=2\nconfirming=ANY 1 ("b","c")\nsize=100\nused=90\nstreaming=yes\n';
  const report = parseServerReport(said);
  assert.equal(report?.lsn, 0x1000000a0n);
  assert.deepEqual(parseConfirming(report?.confirming), { required: 1, names: ["b", "c"] });
  assert.deepEqual([report?.size, report?.used, report?.streaming], [100, 90, true]);
  for (const text of [undefined, "", "role=primary", "role=primary\nterm=x", "sh: not found"]) {
    assert.equal(parseServerReport(text), undefined);
  }
  assert.equal(parseServerReport("role=standby\nterm=1\nlsn=zzz\nbehind=-3")?.lsn, undefined);
  assert.equal(parseConfirming(""), undefined);
  assert.equal(parseConfirming("ANY 0 ()"), undefined);
});
