import type { Client } from "@konverge/client";
import type { Container } from "@konverge/kinds";
import { RayCluster } from "@konverge/ray-operator";
import { until } from "./waiting.ts";

/** The template of a node of Ray, small enough for several on this machine. */
export const rayTemplate = (name: "ray-head" | "ray-worker", container: Partial<Container> = {}) => ({
  spec: {
    containers: [
      {
        name,
        image: "rayproject/ray:2.60.0",
        resources: { limits: { cpu: "1", memory: "2Gi" }, requests: { cpu: "100m", memory: "256Mi" } },
        ...container,
      },
    ],
  },
});

export const untilReady = (client: Client, key: `${string}/${string}`, seconds: number) =>
  until("the cluster is ready", seconds, async () => {
    const { status } = await client.get(RayCluster, key);
    const ready = status?.conditions?.find(({ type }) => type === "Ready");
    if (ready?.status === "True") return true;
    throw new Error(JSON.stringify(status?.conditions));
  });
