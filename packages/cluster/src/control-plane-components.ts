import { BUILT_IN_CONTROLLERS } from "./controllers/controllers.ts";
import { gpuDriver } from "./devices/gpu-driver.ts";
import type { ControlPlaneComponent } from "./parts/part.ts";
import { scheduler } from "./scheduler/scheduler.ts";

/** All parts of the control plane besides the API server. The nodes come with the cluster. */
export const CONTROL_PLANE_COMPONENTS: readonly ControlPlaneComponent[] = [
  ...BUILT_IN_CONTROLLERS,
  scheduler,
  gpuDriver,
];
