import { sleep } from "@konverge/core";
import { permission } from "@konverge/runtime";
import { defineKind, z } from "@konverge/schema";
import type { Program, Scenario } from "@konverge/testing";
import { app } from "../lib/app.ts";
import { reaches } from "../lib/steps.ts";

/** What is scaled: workers that another operator runs. */
export const Pool = defineKind({
  group: "example.com",
  kind: "Pool",
  versions: { v1: { spec: z.object({ replicas: z.int().min(0) }), status: z.object({}) } },
});

/** Keeps three replicas, as a HorizontalPodAutoscaler under constant load does: it decides every 15 seconds. */
const autoscaler: Program = {
  name: "autoscaler",
  kinds: [Pool],
  permissions: [permission(Pool, ["list", "patch"])],
  async main({ client, clock }) {
    for (;;) {
      await sleep(clock, 15_000, { background: true });
      try {
        for (const { metadata, spec } of (await client.list(Pool, {})).items) {
          if (spec.replicas === 3) continue;
          await client.patch(Pool, `${metadata.namespace}/${metadata.name}`, { merge: { spec: { replicas: 3 } } });
        }
      } catch {
        // The next round tries again.
      }
    }
  },
};

/** The workers of an App are scaled by an autoscaler. */
export const scaled =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(autoscaler);
    await environment.start(program);
    await environment.apply(app("a", { size: 1 }));
    await reaches(environment, "a", "Ready");
    await environment.advance(60_000);
  };
