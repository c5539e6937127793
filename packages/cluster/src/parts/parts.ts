import { CONTROLLERS } from "../controllers/controllers.ts";
import { gpuDriver } from "../devices/gpu-driver.ts";
import { scheduler } from "../scheduler/scheduler.ts";
import type { Part } from "./part.ts";

/** All parts of the control plane besides the API server. The nodes come with the cluster. */
export const PARTS: readonly Part[] = [...CONTROLLERS, scheduler, gpuDriver];
