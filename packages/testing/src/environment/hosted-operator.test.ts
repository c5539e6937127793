import assert from "node:assert/strict";
import { test } from "node:test";
import { TransportError } from "@konverge/client";
import { sleep } from "@konverge/core";
import { admissionWebhook, controller, operator } from "@konverge/runtime";
import { defineKind, z } from "@konverge/schema";
import { runScenario } from "./run-scenario.ts";

const Thing = defineKind({
  group: "example.com",
  kind: "Thing",
  versions: { v1: { spec: z.object({ text: z.string() }) } },
});

const things = operator({
  name: "things",
  description: "Labels things.",
  kinds: [Thing],
  create: () => ({
    controllers: [],
    admissions: [
      admissionWebhook(Thing, {
        mutate(draft) {
          draft.metadata.labels = { seen: "yes" };
        },
      }),
    ],
  }),
});

test("an operator that cannot talk to the API server is started again until it can", () =>
  runScenario(async (environment) => {
    const { clock } = environment;
    const back = clock.monotonic() + 60_000;
    environment.injectFault((request, next) => {
      if (clock.monotonic() >= back) return next(request);
      throw new TransportError("tls", "the certificate has expired", { unknownOutcome: false });
    });
    await environment.start(things);
    assert.ok(clock.monotonic() >= back);
    await environment.apply(Thing.new({ metadata: { name: "a" }, spec: { text: "hello" } }));
    assert.equal((await environment.get(Thing, "a")).metadata.labels?.["seen"], "yes");
  }));

const slow = operator({
  name: "slow",
  description: "Takes a minute for each thing.",
  kinds: [Thing],
  create: () => ({
    controllers: [controller(Thing, { reconcile: (_, { clock }) => sleep(clock, 60_000).then(() => ({})) })],
  }),
});

test("an operator that is killed while it stops has stopped, and is not started again", () =>
  runScenario(async (environment) => {
    const running = await environment.start(slow);
    await environment.apply(Thing.new({ metadata: { name: "a" }, spec: { text: "hello" } }));
    await environment.advance(1000);
    const stopped = running.stop();
    running.crash();
    await stopped;
    await assert.rejects(running.metrics(), /slow does not run/);
  }));
