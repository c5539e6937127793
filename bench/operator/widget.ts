import { defineKind, z } from "konverge";

/** It asks for a ConfigMap with a value in it, and says when it is there. */
export const Widget = defineKind({
  group: "bench.konverge.dev",
  kind: "Widget",
  versions: {
    v1: {
      spec: z.object({ value: z.string() }),
      status: z.object({ value: z.string().optional(), child: z.string().optional() }),
    },
  },
});
