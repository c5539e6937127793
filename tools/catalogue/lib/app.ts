import { defineKind, type ObjectOf, z } from "@konverge/schema";

/** The kind of all reconcilers here. */
export const App = defineKind({
  group: "example.com",
  kind: "App",
  versions: {
    v1: {
      spec: z.object({
        size: z.int().min(0).default(1),
        version: z.string().default("1"),
        image: z.string().optional(),
        suspended: z.boolean().optional(),
      }),
      status: z.object({
        phase: z.string().optional(),
        id: z.string().optional(),
        version: z.string().optional(),
        size: z.int().optional(),
        observedGeneration: z.int().optional(),
        conditions: z.array(z.object({ type: z.string(), status: z.string(), reason: z.string() })).optional(),
      }),
    },
  },
});
export type App = ObjectOf<typeof App>;

/** An App as a user writes it. */
export function app(name: string, spec: Partial<App["spec"]> = {}, metadata: object = {}): object {
  return { apiVersion: "example.com/v1", kind: "App", metadata: { name, ...metadata }, spec };
}
