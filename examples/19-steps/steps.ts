// Do several things one after the other, each once, and go on after a restart where it was left.
import { conditionTrue, controller, defineKind, durableSteps, permission, z } from "konverge";
import { ConfigMap } from "konverge/kinds";

export const Launch = defineKind({
  group: "examples.konverge.dev",
  kind: "Launch",
  versions: {
    v1: {
      spec: z.object({ site: z.string() }),
      status: z.object({ ticket: z.string().optional() }),
    },
  },
});

/** Stands for what is slow, fails now and then, and must not be done twice. */
export interface Ground {
  book(site: string): Promise<string>;
  fuel(ticket: string): Promise<void>;
}

export function launches(ground: Ground) {
  const countdown = durableSteps(Launch, {
    name: "countdown",
    sequence: {
      book: async ({ spec }) => ({ ticket: await ground.book(spec.site) }),
      fuel: {
        run: (_launch, { outputs }) => ground.fuel((outputs["book"] as { ticket: string }).ticket),
        retries: 5,
        timeout: 600_000,
        backoff: { initial: 100 },
      },
      announce: async ({ metadata, spec }, { client }) => {
        const place = { name: `${metadata.name}-launched`, namespace: metadata.namespace };
        await client.apply(ConfigMap, { metadata: place, data: { site: spec.site } });
      },
    },
  });
  return controller(Launch, {
    // The progress is kept in an annotation of the launch.
    permissions: [permission(Launch, ["patch"]), permission(ConfigMap, ["create", "patch"])],
    async reconcile(launch, context) {
      const { book } = await countdown.run(launch, context);
      return {
        status: { ticket: (book as { ticket: string }).ticket },
        conditions: { Ready: conditionTrue("Launched") },
      };
    },
  });
}
