import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { allScripts } from "./all-scripts.ts";
import { normalize } from "./normalize.ts";
import { play } from "./play.ts";
import { Recording } from "./recording.ts";
import { embeddedTarget, type Target } from "./target.ts";
import { startWebhooks, type Webhooks } from "./webhooks.ts";

const recording = new Recording();
const scripts = allScripts().filter((script) => !script.alone && recording.has(script));

describe("the embedded server answers as a real one did", { concurrency: 16 }, () => {
  let target: Target;
  let webhooks: Webhooks;
  before(async () => {
    target = await embeddedTarget();
    webhooks = await startWebhooks();
  });
  after(async () => {
    await target[Symbol.asyncDispose]();
    await webhooks[Symbol.asyncDispose]();
  });

  for (const [index, script] of scripts.entries()) {
    test(script.name, async () => {
      const namespace = `recorded-${index + 1}`;
      const variables = { webhooks: webhooks.url, caBundle: webhooks.caBundle };
      const results = normalize(await play(script, target, namespace, variables), namespace);
      const answer = recording.firstDifference(script, results);
      const what = answer === undefined ? "" : JSON.stringify(results[answer - 1])?.slice(0, 2000);
      const hint = `to see the difference: npm run test:differential -- --only ${JSON.stringify(script.name)}`;
      assert.equal(answer, undefined, `answer ${answer} is not what a real server said: ${what}\n${hint}`);
    });
  }
});
