import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Database } from "./database.ts";
import type { Member } from "./leadership.ts";
import { followingStep, withSource } from "./replica.ts";
import { followedBy, sourceOf } from "./replica-source.ts";
import type { ServerReport } from "./server-report.ts";
import type { Topology } from "./topology.ts";

const database = (replica?: object) =>
  Database.parse({
    apiVersion: "example.com/v1",
    kind: "Database",
    metadata: { name: "postgres-west", namespace: "shop" },
    spec: { version: "16.4", size: "5Gi", instances: 3, ...(replica && { replica }) },
  } as never);

const follows = "host=postgres-east-rw.shop.svc port=5432";
const east = { source: { database: "postgres-east" } };
const topology: Topology = { term: 4, primary: "postgres-west-0", upstream: "postgres-west-0", fresh: false, follows };

function member(index: number, report?: Partial<ServerReport>): Member {
  const pod = { uid: String(index), ready: report !== undefined, ending: false, dead: false, node: "n" };
  return {
    name: `postgres-west-${index}`,
    pod,
    report: report && { role: "standby", term: 4, streaming: true, ...report },
  };
}

describe("a Database that follows another one", () => {
  test("finds the source by its name in the same namespace, or elsewhere by its host and Secret", () => {
    assert.deepEqual(sourceOf(database(east)), {
      host: "postgres-east-rw.shop.svc",
      port: 5432,
      secretName: "postgres-east-credentials",
    });
    const elsewhere = { source: { host: "east.example.com", port: 6432, secretName: "east" } };
    assert.deepEqual(followedBy(database(elsewhere)), { follows: "host=east.example.com port=6432" });
    assert.deepEqual(followedBy(database({ ...elsewhere, enabled: false })), {});
  });

  test("begins and ends in a new term, and never during a change of the primary", () => {
    const { follows: _, ...leads } = topology;
    assert.deepEqual(withSource(database(east), leads, []), { ...topology, term: 5 });
    assert.equal(withSource(database(east), topology, []), topology);
    const changes: Topology = {
      ...leads,
      primary: "",
      operation: { kind: "failover", from: "postgres-west-0", since: 0 },
    };
    assert.equal(withSource(database(east), changes, []), changes);
    const received = [member(0, { role: "primary", lsn: 9n })];
    assert.deepEqual(withSource(database(), topology, received), { ...leads, term: 5 });
  });

  test("is promoted only when it reports more than it has to have", () => {
    const promoted = database({ ...east, enabled: false, promoteAt: "0/9" });
    assert.equal(withSource(promoted, topology, [member(0)]), topology);
    assert.equal(withSource(promoted, topology, [member(0, { role: "primary", lsn: 9n })]), topology);
    assert.equal(withSource(promoted, topology, [member(0, { role: "primary", lsn: 10n })]).follows, undefined);
  });

  test("goes on in its term when the source has another address", () => {
    const moved = database({ source: { host: "new.example.com", secretName: "east" } });
    assert.deepEqual(withSource(moved, topology, []), { ...topology, follows: "host=new.example.com port=5432" });
  });

  const decide = (members: readonly Member[], more: object = {}) =>
    followingStep({
      topology,
      members,
      delay: 30_000,
      switchoverTo: undefined,
      lostSince: undefined,
      now: 100_000,
      ...more,
    });

  test("is not changed while the server that receives reports, however long it copies", () => {
    const step = decide([member(0, { role: "joining" }), member(1, { lsn: 5n })], { lostSince: 1 });
    assert.equal(step.topology.primary, "postgres-west-0");
    assert.equal(step.lostSince, undefined);
  });

  test("receives with the standby that has the most when the pod is lost for long enough", () => {
    const members = [member(0), member(1, { lsn: 5n }), member(2, { lsn: 7n })];
    assert.equal(decide(members).topology.term, 4);
    const { topology: next } = decide(members, { lostSince: 1 });
    assert.deepEqual(next, { ...topology, term: 5, primary: "postgres-west-2", upstream: "postgres-west-2" });
  });

  test("receives with another server on request", () => {
    const members = [member(0, { role: "primary" }), member(1, { lsn: 5n })];
    const step = decide(members, { switchoverTo: "postgres-west-1" });
    assert.deepEqual([step.topology.primary, step.switched], ["postgres-west-1", "postgres-west-1"]);
    assert.equal(decide(members, { switchoverTo: "postgres-west-2" }).problem?.reason, "SwitchoverWaits");
  });
});
