import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { findControlPlane } from "@konverge/real";
import { RealServer } from "../test/real-server.ts";
import { type Answers, questionAll } from "./corpus/judge.ts";
import { RealJudge } from "./test/real-judge.ts";

const plane = findControlPlane();
const recorded = new URL("./corpus/answers.json", import.meta.url);

test("kube-apiserver gives the recorded answers", { skip: plane.available ? false : plane.why }, async () => {
  await using server = await RealServer.start();
  const answers = await questionAll(new RealJudge(server));
  // The recording is made anew when it is asked for; the tests without a server then hold us to it.
  if (process.env.KONVERGE_RECORD) writeFileSync(recorded, `${JSON.stringify(answers, null, 2)}\n`);
  assert.deepEqual(answers, JSON.parse(readFileSync(recorded, "utf8")) as Answers);
});
