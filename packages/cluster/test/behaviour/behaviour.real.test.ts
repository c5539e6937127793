import { test } from "node:test";
import { findControlPlane, startRealCluster } from "@konverge/real";
import { cascades } from "./cascades.ts";
import { jobs } from "./jobs.ts";
import { rollouts } from "./rollouts.ts";
import { sets } from "./sets.ts";
import { playReal } from "./stages.ts";

const plane = findControlPlane();

test("behaviours on a real control plane", { skip: plane.available ? false : plane.why }, async (t) => {
  await using cluster = await startRealCluster({ controllers: true });
  const results = await playReal(cluster, { ...rollouts, ...cascades, ...jobs, ...sets });
  for (const { name, error } of results) {
    await t.test(name, () => {
      if (error) throw error;
    });
  }
});
