import { findControlPlane } from "@konverge/real";
import { play } from "./play.ts";
import { embeddedCluster, realServer } from "./servers.ts";
import { workloads } from "./stories/workloads.ts";

const plane = findControlPlane();
const skip = !plane.available
  ? plane.why
  : plane.absent.some((name) => name !== "e2e.test") && `${plane.folder} lacks ${plane.absent.join(", ")}`;

play(
  workloads,
  async () => [
    await realServer({ controllers: true, scheduler: true, kwok: { nodes: 2, gpus: 0 } }),
    await embeddedCluster(),
  ],
  skip,
);
