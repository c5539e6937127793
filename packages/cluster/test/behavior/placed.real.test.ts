import { test } from "node:test";
import { connect } from "@konverge/client";
import { findControlPlane, startRealCluster } from "@konverge/real";
import { autoscaling } from "./autoscaling.ts";
import { devices } from "./devices.ts";
import { kwokPods } from "./kwok-pods.ts";
import type { Measures } from "./measures.ts";
import { startMetricsServer } from "./metrics-server.ts";
import { placedJobs } from "./placed-jobs.ts";
import { placedScheduling } from "./placed-scheduling.ts";
import { placedVolumes } from "./placed-volumes.ts";
import { placedWorkloads } from "./placed-workloads.ts";
import { sharedDevices } from "./shared-devices.ts";
import { playReal } from "./stages.ts";

const plane = findControlPlane();

test("behavior of a real control plane with nodes", { skip: plane.available ? false : plane.why }, async (t) => {
  await using cluster = await startRealCluster({
    controllers: true,
    scheduler: true,
    kwok: { nodes: 0 },
    podStages: kwokPods,
    controllerManagerFlags: ["--horizontal-pod-autoscaler-sync-period=2s"],
  });
  const measures: Measures = new Map();
  const client = await connect({ kubeconfig: cluster.kubeconfig });
  const metrics = await startMetricsServer(client, measures);
  t.after(() => {
    metrics.close();
    return client.close();
  });
  const results = await playReal(
    cluster,
    {
      ...autoscaling,
      ...placedWorkloads,
      ...placedJobs,
      ...placedScheduling,
      ...placedVolumes,
      ...devices,
      ...sharedDevices,
    },
    measures,
  );
  for (const { name, error } of results) {
    await t.test(name, () => {
      if (error) throw error;
    });
  }
});
