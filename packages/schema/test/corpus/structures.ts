import { defineKind, embeddedObject, opaqueObject, rawSchema, z } from "@konverge/schema";

/** Unions, intersections, and fields that are open or whole objects. */

const group = "structures.example.com";

export const Volume = defineKind({
  group,
  kind: "Volume",
  versions: {
    v1: {
      spec: z.object({
        source: z.discriminatedUnion("type", [
          z.object({ type: z.literal("disk"), size: z.int().min(1), fast: z.boolean().default(false) }),
          z.object({ type: z.literal("bucket"), url: z.url(), region: z.string().optional() }),
          z.object({ type: z.literal("empty") }),
        ]),
      }),
    },
  },
});

export const Source = defineKind({
  group,
  kind: "Source",
  versions: {
    v1: {
      spec: z.object({
        from: z.union([
          z.object({ git: z.object({ url: z.string(), ref: z.string().default("main") }) }),
          z.object({ image: z.string().min(1), size: z.int().max(10) }),
          z.object({ inline: z.string(), size: z.int().max(100) }),
        ]),
      }),
    },
  },
});

const Named = z.object({ name: z.string().max(10) });
const Sized = z.object({ size: z.int().default(1) });

export const Combined = defineKind({
  group,
  kind: "Combined",
  plural: "combined",
  versions: {
    v1: {
      spec: z.object({
        both: z.intersection(Named, Sized),
        extended: Named.extend({ extra: z.int() }).optional(),
        lazy: z.lazy(() => Named).optional(),
        frozen: z.object({ x: z.int() }).readonly().optional(),
        branded: z.string().max(3).brand("Short").optional(),
        partial: Named.partial().optional(),
        required: z.object({ maybe: z.string().optional() }).required().optional(),
      }),
    },
  },
});

export const Open = defineKind({
  group,
  kind: "OpenEnd",
  versions: {
    v1: {
      spec: z.object({
        anything: z.unknown().optional(),
        any: z.any().optional(),
        loose: z.looseObject({ known: z.object({ x: z.int() }).optional() }).optional(),
        opaque: opaqueObject<{ a: number }>().optional(),
        raw: rawSchema<{ x?: number }>({
          type: "object",
          properties: { x: { type: "integer" } },
          not: { required: ["y"] },
        }).optional(),
      }),
    },
  },
});

const Pod = { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true };

export const Wrapper = defineKind({
  group,
  kind: "Wrapper",
  versions: {
    v1: {
      spec: z.object({
        object: embeddedObject().optional(),
        pod: embeddedObject(Pod).optional(),
        list: z.array(embeddedObject()).optional(),
      }),
    },
  },
});
