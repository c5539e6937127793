import { placedJobs } from "./placed-jobs.ts";
import { placedWorkloads } from "./placed-workloads.ts";
import { playEmbedded } from "./stages.ts";

playEmbedded({ ...placedWorkloads, ...placedJobs }, { nodes: true });
