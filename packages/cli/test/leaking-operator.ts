import { ConfigMap } from "@konverge/kinds";
import { controller, operator, permission } from "@konverge/runtime";
import { defineKind, z } from "@konverge/schema";

export const Leak = defineKind({
  group: "test.example.com",
  kind: "Leak",
  versions: { v1: { spec: z.object({ size: z.int().default(1) }), status: z.object({ map: z.string().optional() }) } },
});

/** Remembers what it has made only afterwards: killed in between, it makes another. */
export const leakingOperator = operator({
  name: "leaking-operator",
  description: "Leaks.",
  kinds: [Leak],
  create: () => ({
    controllers: [
      controller(Leak, {
        permissions: [permission(ConfigMap, ["create"])],
        async reconcile({ metadata: { namespace }, status }, { client }) {
          if (status?.map !== undefined) return {};
          const made = await client.create(ConfigMap, { metadata: { generateName: "leak-", namespace } });
          return { status: { map: made.metadata.name } };
        },
      }),
    ],
  }),
});
