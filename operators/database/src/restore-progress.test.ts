import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { RestorePart } from "./restore-jobs.ts";
import { nextMove, type PartState, type RestoreFacts, type RestoreMove, undoMove } from "./restore-progress.ts";

/** A simulation in which moves are carried out, Jobs end at random, and servers start and stop as requested. */
class World {
  parts: Partial<Record<RestorePart, PartState>> = {};
  held = false;
  pods = true;
  standbys = true;
  readonly physical: boolean;
  /** The parts that were begun, in order. */
  readonly begun: RestorePart[] = [];

  constructor(physical: boolean) {
    this.physical = physical;
  }

  facts(): RestoreFacts {
    const { physical, parts, held, pods, standbys } = this;
    return { physical, parts, held, stopped: !pods, standbys, ready: pods && !held };
  }

  carryOut({ start, hold, removeStandbys }: RestoreMove): void {
    if (hold !== undefined) this.held = hold;
    if (removeStandbys) {
      assert.ok(
        this.held && !this.pods && this.parts.restore === "complete",
        "standbys go when the new data are proven",
      );
      this.standbys = false;
    }
    if (!start || this.parts[start]) return;
    const touchesData = this.physical && (start === "restore" || start === "undo");
    if (touchesData) assert.ok(this.held && !this.pods, `${start} begins while no server runs`);
    if (start === "restore") assert.equal(this.parts.check, "complete", "nothing begins unchecked");
    if (start === "finish") {
      assert.equal(this.parts.restore, "complete");
      if (this.physical) assert.ok(this.pods && !this.held, "old data go when the restored server answers");
      assert.equal(this.parts.undo, undefined);
    }
    if (start === "undo") assert.equal(this.parts.finish, undefined, "what is being removed cannot be put back");
    this.parts[start] = "working";
    this.begun.push(start);
  }

  /** Something happens: a Job ends, or servers follow. */
  passes(ends: PartState): void {
    const working = Object.entries(this.parts).find(([, state]) => state === "working")?.[0] as RestorePart | undefined;
    // The Jobs that put things in order are tried until they succeed.
    if (working) this.parts[working] = working === "undo" || working === "finish" ? "complete" : ends;
    if (!(this.physical && ["restore", "undo"].includes(working ?? ""))) this.pods = !this.held;
  }
}

const ends = fc.array(fc.constantFrom<PartState>("working", "complete", "failed"), { minLength: 0, maxLength: 60 });

test("a restore ends, touches data only while no server runs, and removes old ones only when the new are proven", () => {
  fc.assert(
    fc.property(fc.boolean(), ends, (physical, chance) => {
      const world = new World(physical);
      let phase = "";
      for (const end of [...chance, ...Array<PartState>(40).fill("complete")]) {
        const move = nextMove(world.facts());
        world.carryOut(move);
        phase = move.phase;
        if (phase === "Completed" || phase === "Failed") break;
        world.passes(end);
      }
      assert.ok(phase === "Completed" || phase === "Failed", `it ends, and is not ${phase}`);
      assert.equal(world.held, false, "the servers may run");
      if (phase === "Completed") assert.equal(world.parts.finish, "complete");
      else assert.ok(world.parts.restore === undefined || world.parts.undo === "complete", "what was begun is undone");
    }),
  );
});

test("a restore that is canceled at any point ends with the old data, unless they are already being removed", () => {
  fc.assert(
    fc.property(fc.boolean(), ends, (physical, chance) => {
      const world = new World(physical);
      for (const end of chance) {
        const move = nextMove(world.facts());
        world.carryOut(move);
        if (move.phase === "Completed" || move.phase === "Failed") return;
        world.passes(end);
      }
      if (world.parts.restore === "working") world.parts.restore = "failed";
      const finishing = world.parts.finish !== undefined;
      for (let step = 0; step < 40; step++) {
        const move = undoMove(world.facts(), "Failed");
        world.carryOut(move);
        if (move.phase === "Failed" || move.phase === "Completed") {
          assert.equal(world.held, false);
          assert.equal(move.phase, finishing ? "Completed" : "Failed");
          if (!finishing && world.begun.includes("restore")) assert.equal(world.parts.undo, "complete");
          return;
        }
        world.passes("complete");
      }
      assert.fail("it does not end");
    }),
  );
});

test("what cannot be undone is reported, and the servers stay stopped", () => {
  const facts: RestoreFacts = {
    physical: true,
    parts: { check: "complete", restore: "failed", undo: "failed" },
    held: true,
    stopped: true,
    standbys: false,
    ready: false,
  };
  assert.deepEqual(nextMove(facts), { phase: "Undoing", stuck: true });
});
