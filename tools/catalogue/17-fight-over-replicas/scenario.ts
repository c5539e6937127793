import { sleep } from "@konverge/core";
import { Deployment } from "@konverge/kinds";
import { permission } from "@konverge/runtime";
import type { Program, Scenario } from "@konverge/testing";
import { app } from "../lib/app.ts";
import { reaches } from "../lib/steps.ts";

/** Keeps three replicas, as an HPA under constant load does. */
const autoscaler: Program = {
  name: "autoscaler",
  kinds: [],
  permissions: [permission(Deployment, ["list", "patch"])],
  async main({ client, clock }) {
    for (;;) {
      await sleep(clock, 15_000, { background: true });
      try {
        for (const { metadata, spec } of (await client.list(Deployment, {})).items) {
          if (spec?.replicas === 3) continue;
          await client.patch(Deployment, `${metadata.namespace}/${metadata.name}`, {
            merge: { spec: { replicas: 3 } },
          });
        }
      } catch {
        // The next round tries again.
      }
    }
  },
};

/** The Deployment of an App is scaled by an autoscaler. */
export const scaled =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.start(autoscaler);
    await environment.apply(app("a", { size: 1, image: "example/web:1" }));
    await reaches(environment, "a", "Ready");
    await environment.advance(60_000);
  };
