import { controller, operator } from "@konverge/runtime";
import { defineKind, z } from "@konverge/schema";

/** A kind whose objects say which mistake the operator makes with them. */
export const Mistake = defineKind({
  group: "test.example.com",
  kind: "Mistake",
  versions: { v1: { spec: z.object({ which: z.enum(["forgotten await", "blocked event loop"]) }) } },
});

async function forgotten(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  throw new Error("the disk is full");
}

/** Makes the mistakes that only a process can notice. */
export const carelessOperator = operator({
  name: "careless-operator",
  description: "Makes mistakes.",
  kinds: [Mistake],
  create: () => ({
    controllers: [
      controller(Mistake, {
        async reconcile({ spec }) {
          if (spec.which === "forgotten await") void forgotten();
          else for (const start = performance.now(); performance.now() - start < 2_500; );
          return {};
        },
      }),
    ],
  }),
});
