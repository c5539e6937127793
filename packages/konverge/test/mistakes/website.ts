import { defineKind, type ObjectOf, z } from "konverge";

export const Website = defineKind({
  group: "example.com",
  kind: "Website",
  versions: {
    v1: {
      spec: z.object({
        image: z.string(),
        replicas: z.int().min(0).default(1),
        size: z.enum(["small", "large"]).default("small"),
      }),
      status: z.object({ readyReplicas: z.int().optional(), url: z.string().optional() }),
    },
  },
});
export type Website = ObjectOf<typeof Website>;
