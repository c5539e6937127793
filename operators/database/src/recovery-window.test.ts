import assert from "node:assert/strict";
import { test } from "node:test";
import { parseArchiveFacts, recoveryWindow } from "@konverge/database-operator";

const at = (second: number) => 1_700_000_000_000 + second * 1000;
const iso = (second: number) => new Date(at(second)).toISOString();
const time = (second: number) => at(second) / 1000;

/** What a primary reports: segments of 16 MiB. */
function reported(facts: Readonly<Record<string, string>>) {
  return parseArchiveFacts(new Map(Object.entries({ segmentSize: "16777216", ...facts })))!;
}

test("without facts or without a base backup there is no window", () => {
  assert.equal(parseArchiveFacts(new Map()), undefined);
  assert.equal(recoveryWindow(reported({ position: "1:9", archived: `1:1-8@${time(80)}` })), undefined);
});

test("from the end of the oldest backup to the end of the archive", () => {
  const facts = { position: "1:9", archived: `1:1-7@${time(70)}`, waiting: "1:8-8@0" };
  const backups = `new@${iso(60)}@1:6,old@${iso(20)}@1:2`;
  assert.deepEqual(recoveryWindow(reported({ ...facts, backups })), { first: at(20), last: at(70), gaps: [] });
  // Nothing was archived after the last backup.
  const late = recoveryWindow(reported({ ...facts, backups: `late@${iso(75)}@1:8` }));
  assert.deepEqual(late, { first: at(75), last: at(75), gaps: [] });
});

test("a missing segment ends the window until the next backup, and is named", () => {
  const facts = { position: "1:301", archived: `1:1-254@${time(254)},1:257-300@${time(300)}` };
  const open = recoveryWindow(reported({ ...facts, backups: `old@${iso(20)}@1:2` }));
  const hole = { firstSegment: "0000000100000000000000FF", lastSegment: "000000010000000100000000" };
  assert.deepEqual(open, { first: at(20), last: at(254), gaps: [{ from: at(254), ...hole }] });
  const closed = recoveryWindow(reported({ ...facts, backups: `old@${iso(20)}@1:2,next@${iso(270)}@1:270` }));
  assert.deepEqual(closed, { first: at(20), last: at(300), gaps: [{ from: at(254), to: at(270), ...hole }] });
  // Of no backup's concern.
  const later = recoveryWindow(reported({ ...facts, backups: `next@${iso(270)}@1:270` }));
  assert.deepEqual(later, { first: at(270), last: at(300), gaps: [] });
});

test("a segment that was never archived is missing before a later one is archived", () => {
  const facts = { position: "2:7", history: "1:7", archived: `1:1-4@${time(40)}`, backups: `one@${iso(20)}@1:2` };
  const { gaps, last } = recoveryWindow(reported(facts))!;
  assert.deepEqual(
    gaps.map(({ firstSegment, lastSegment }) => [firstSegment, lastSegment]),
    [["000000010000000000000005", "000000010000000000000006"]],
  );
  assert.equal(last, at(40));
  assert.deepEqual(recoveryWindow(reported({ ...facts, waiting: "1:5-6@0" }))!.gaps, []);
});

test("each place counts in the timeline that went on from it", () => {
  // Timeline 1 was left in segment 7; what its server wrote after that closes no hole.
  const facts = { position: "2:10", history: "1:7", backups: `one@${iso(20)}@1:2` };
  const archived = `1:1-6@${time(60)},1:7-9@${time(95)},2:8-9@${time(90)}`;
  const { gaps } = recoveryWindow(reported({ ...facts, archived }))!;
  assert.deepEqual(gaps, [
    { from: at(60), firstSegment: "000000020000000000000007", lastSegment: "000000020000000000000007" },
  ]);
  const whole = recoveryWindow(reported({ ...facts, archived: `${archived},2:7-7@${time(70)}` }));
  assert.deepEqual(whole, { first: at(20), last: at(90), gaps: [] });
  // A backup that ended on the way that was left is none.
  assert.equal(recoveryWindow(reported({ ...facts, archived, backups: `lost@${iso(85)}@1:8` })), undefined);
});

test("a hole across a change of timeline is one", () => {
  const facts = { position: "2:9", history: "1:7", backups: `one@${iso(20)}@1:2` };
  const { gaps } = recoveryWindow(reported({ ...facts, archived: `1:1-5@${time(50)},2:8-8@${time(80)}` }))!;
  assert.deepEqual(gaps, [
    { from: at(50), firstSegment: "000000010000000000000006", lastSegment: "000000020000000000000007" },
  ]);
});
