import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { after, before, suite, test } from "node:test";
import type { Schema } from "@konverge/core";
import { findControlPlane } from "@konverge/real";
import fc from "fast-check";
import { type Answers, questionAll } from "../../test/cel/corpus/judge.ts";
import { ownJudge } from "../../test/cel/corpus/own-judge.ts";
import { type RandomCase, randomCases } from "../../test/cel/random-rules.ts";
import { RealJudge } from "../../test/cel/real-judge.ts";
import { RealServer } from "../../test/real-server.ts";

const plane = findControlPlane();
const recorded = new URL("../../test/cel/corpus/answers.json", import.meta.url);

suite("with kube-apiserver as the judge", { skip: plane.available ? false : plane.why }, () => {
  let server: RealServer;
  before(async () => {
    server = await RealServer.start();
  });
  after(() => server[Symbol.asyncDispose]());

  test("the corpus has the recorded answers", async () => {
    const answers = await questionAll(new RealJudge(server));
    // The recording is written again on request; the tests without a server compare with it.
    if (process.env.KONVERGE_RECORD) writeFileSync(recorded, `${JSON.stringify(answers, null, 2)}\n`);
    assert.deepEqual(answers, JSON.parse(readFileSync(recorded, "utf8")) as Answers);
  });

  test("rules anywhere in random schemas say the same about creates and updates", async () => {
    const real = new RealJudge(server);
    const parts: RandomCase[] = [];
    for (const one of fc.sample(randomCases, 60)) {
      const schema: Schema = { type: "object", properties: { spec: one.schema } };
      const refused = await real.refusals(schema);
      assert.deepEqual(await ownJudge.refusals(schema), refused, JSON.stringify(schema));
      if (refused.length === 0) parts.push(one);
    }
    const properties = Object.fromEntries(parts.map(({ schema }, i) => [`part${i}`, schema]));
    const schema: Schema = { type: "object", properties: { spec: { type: "object", properties } } };
    const contents = (change: number, which: 0 | 1) => ({
      spec: Object.fromEntries(parts.map(({ changes }, i) => [`part${i}`, changes[change]![which]])),
    });
    const updated = [0, 1, 2, 3].map((change) => [contents(change, 0), contents(change, 1)] as const);
    const questions = { created: updated.map(([old]) => old), updated };
    assert.deepEqual(
      await ownJudge.objects(schema, questions),
      await real.objects(schema, questions),
      JSON.stringify({ schema, questions }),
    );
  });
});
