import assert from "node:assert/strict";
import { test } from "node:test";
import { type Random, realClock, seededRandom } from "@konverge/core";
import { madeCases } from "../../test/cases/all.ts";
import { goMadeCases, opensslMadeCases } from "../../test/cases/made-elsewhere.ts";
import { goMissing, goReferee } from "../../test/go-referee.ts";
import { ourAnswer, type VerifyCase } from "../../test/verify-case.ts";

const skip = goMissing() ?? false;

function sameAnswers(cases: readonly VerifyCase[], theirs: readonly string[]): void {
  for (const [i, one] of cases.entries()) {
    const all = [one.chain, one.roots].map((list) => list.map((raw) => raw.toString("base64")).join(" "));
    assert.equal(ourAnswer(one), theirs[i], `${one.title}: host ${one.host}, chain ${all[0]}, roots ${all[1]}`);
  }
}

test("certificates that are made now are trusted or refused as Go does it", { skip }, () => {
  using referee = goReferee();
  const cases = [...madeCases(), ...goMadeCases(referee.issued()), ...opensslMadeCases()];
  sameAnswers(cases, referee.answers(cases));
});

test("certificates with changed bytes are trusted or refused as Go does it", { skip }, (t) => {
  using referee = goReferee();
  const seed = realClock().random.below(2 ** 32);
  t.diagnostic(`seed ${seed}`);
  const random = seededRandom(seed);
  const originals = madeCases().filter(({ chain }) => chain.length > 0 && chain.length < 10);
  const cases = Array.from({ length: 5000 }, () => damaged(random.pick(originals), random));
  sameAnswers(cases, referee.answers(cases));
});

/** A case with up to three bytes changed in one of its certificates. */
function damaged(one: VerifyCase, random: Random): VerifyCase {
  const [chain, roots] = [one.chain, one.roots].map((list) => list.map((raw) => Buffer.from(raw)));
  const target = random.pick([...chain!, ...roots!]);
  for (let changes = 1 + random.below(3); changes > 0 && target.length > 0; changes--) {
    const at = random.below(target.length);
    target[at] = random.pick([random.below(256), target[at]! ^ (1 << random.below(8)), target[at]! + 1, 0x30, 0x80, 0]);
  }
  return { ...one, chain: chain!, roots: roots! };
}
