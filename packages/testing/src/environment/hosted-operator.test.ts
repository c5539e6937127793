import assert from "node:assert/strict";
import { test } from "node:test";
import { TransportError } from "@konverge/client";
import { admissionWebhook, operator } from "@konverge/runtime";
import { defineKind } from "@konverge/schema";
import { z } from "zod";
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
