import { test } from "node:test";
import { findControlPlane, startRealCluster } from "@konverge/real";
import { attachmentBehaviors } from "./attachments.ts";
import { cascades } from "./cascades.ts";
import { certificates } from "./certificates.ts";
import { guards } from "./guards.ts";
import { jobs } from "./jobs.ts";
import { lateClasses } from "./late-classes.ts";
import { rollouts } from "./rollouts.ts";
import { services } from "./services.ts";
import { sets } from "./sets.ts";
import { playReal } from "./stages.ts";
import { volumes } from "./volumes.ts";

const plane = findControlPlane();

test("behavior of a real control plane", { skip: plane.available ? false : plane.why }, async (t) => {
  await using cluster = await startRealCluster({ controllers: true });
  const all = {
    ...rollouts,
    ...cascades,
    ...jobs,
    ...sets,
    ...services,
    ...volumes,
    ...attachmentBehaviors,
    ...guards,
    ...certificates,
    ...lateClasses,
  };
  const results = await playReal(cluster, all);
  for (const { name, error } of results) {
    await t.test(name, () => {
      if (error) throw error;
    });
  }
});
