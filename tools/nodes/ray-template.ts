import type { Container } from "@konverge/kinds";

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
