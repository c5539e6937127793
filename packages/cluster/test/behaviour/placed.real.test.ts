import { test } from "node:test";
import { findControlPlane, startRealCluster } from "@konverge/real";
import { kwokPods } from "./kwok-pods.ts";
import { placedJobs } from "./placed-jobs.ts";
import { placedScheduling } from "./placed-scheduling.ts";
import { placedVolumes } from "./placed-volumes.ts";
import { placedWorkloads } from "./placed-workloads.ts";
import { playReal } from "./stages.ts";

const plane = findControlPlane();

test("behaviours on a real control plane with nodes", { skip: plane.available ? false : plane.why }, async (t) => {
  await using cluster = await startRealCluster({
    controllers: true,
    scheduler: true,
    kwok: { nodes: 0 },
    podStages: kwokPods,
  });
  const results = await playReal(cluster, { ...placedWorkloads, ...placedJobs, ...placedScheduling, ...placedVolumes });
  for (const { name, error } of results) {
    await t.test(name, () => {
      if (error) throw error;
    });
  }
});
