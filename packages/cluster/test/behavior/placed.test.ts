import { devices } from "./devices.ts";
import { placedJobs } from "./placed-jobs.ts";
import { placedScheduling } from "./placed-scheduling.ts";
import { placedVolumes } from "./placed-volumes.ts";
import { placedWorkloads } from "./placed-workloads.ts";
import { sharedDevices } from "./shared-devices.ts";
import { playEmbedded } from "./stages.ts";

playEmbedded(
  { ...placedWorkloads, ...placedJobs, ...placedScheduling, ...placedVolumes, ...devices, ...sharedDevices },
  { nodes: true },
);
