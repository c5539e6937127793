import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { findControlPlane, startRealCluster } from "@konverge/real";
import type { PolicyAnswers } from "../../../test/cel/corpus/policy-judge.ts";
import { realPolicyAnswers } from "../../../test/cel/real-policy-judge.ts";

const plane = findControlPlane();
const recorded = new URL("../../../test/cel/corpus/policy-answers.json", import.meta.url);

test("kube-apiserver gives the recorded answers about policies", {
  skip: plane.available ? false : plane.why,
}, async () => {
  await using cluster = await startRealCluster();
  const answers = await realPolicyAnswers(cluster);
  // As in cel.real.test.ts, the recording is written again on request.
  if (process.env.KONVERGE_RECORD) writeFileSync(recorded, `${JSON.stringify(answers, null, 2)}\n`);
  assert.deepEqual(answers, JSON.parse(readFileSync(recorded, "utf8")) as PolicyAnswers);
});
