import assert from "node:assert/strict";
import { test } from "node:test";
import type { ReconcileContext } from "konverge";
import { silentLog } from "konverge/observability";
import { VirtualClock } from "konverge/time";
import { Registry } from "prom-client";
import { reconcileJob } from "./reconcile-job.ts";
import type { Tools } from "./tools.ts";
import type { TrainingJob } from "./training-job.ts";
import { TrainingMetrics } from "./training-metrics.ts";
import { LogReader } from "./worker-logs.ts";

/** An environment without pods, in which any write fails the test. */
function emptyWorld() {
  const events: string[] = [];
  const context = {
    clock: new VirtualClock(),
    cache: { get: () => undefined, list: () => [], find: () => [] },
    observed: { all: () => [] },
    client: new Proxy({}, { get: (_, verb) => () => assert.fail(`client.${String(verb)}`) }),
    events: {
      normal: (reason: string) => void events.push(reason),
      warning: (reason: string, message: string) => void events.push(`${reason}: ${message}`),
    },
    signal: new AbortController().signal,
    log: silentLog,
  } as unknown as ReconcileContext;
  const registry = new Registry();
  const tools: Tools = { metrics: new TrainingMetrics(registry), schedulers: [], logs: new LogReader() };
  return { context, tools, events, registry };
}

/** An object that no API server would store: neither an image nor a command. */
const bare = {
  apiVersion: "ml.example.com/v1alpha1",
  kind: "TrainingJob",
  metadata: { name: "test-job", namespace: "default", uid: "u" },
  spec: { framework: "pytorch", workers: 2 },
} as unknown as TrainingJob;

test("a job that lacks its image and command is reported, and nothing is made of it", async () => {
  const { context, tools, events } = emptyWorld();
  const { status, conditions, children } = await reconcileJob(bare, context, tools);
  assert.equal(status?.phase, "Pending");
  assert.equal(conditions?.["Degraded"]?.reason, "InvalidSpec");
  assert.equal(children, undefined);
  assert.match(events.join(), /InvalidSpec: spec\.image: Required value/);
});

test("a job is counted once, however often it is looked at before its status is stored", async () => {
  const { context, tools, registry } = emptyWorld();
  for (let i = 0; i < 3; i++) await reconcileJob(bare, context, tools);
  const text = await registry.metrics();
  assert.match(text, /# HELP training_jobs_created_total Total number of training jobs created\n/);
  assert.match(text, /\ntraining_jobs_created_total 1\n/);
});
