import { defineKind, duration, intOrString, quantity, z } from "@konverge/schema";

/** One kind for each sort of scalar, with every check that Zod has and a CRD can express. */

const group = "scalars.example.com";

export const Numbers = defineKind({
  group,
  kind: "Number",
  versions: {
    v1: {
      spec: z.object({
        integer: z.int().optional(),
        bounded: z.int().min(-5).max(5).optional(),
        exclusive: z.int().gt(0).lt(10).optional(),
        multiple: z.int().multipleOf(3).optional(),
        twice: z.int().multipleOf(2).multipleOf(5).optional(),
        int32: z.int32().optional(),
        uint32: z.uint32().optional(),
        decimal: z.number().optional(),
        ratio: z.number().min(0).max(1).optional(),
        positive: z.number().positive().optional(),
        step: z.number().multipleOf(0.5).optional(),
        float: z.float32().optional(),
        double: z.float64().optional(),
        chosen: z.literal([1, 2, 4, 8]).optional(),
        chosenDecimal: z.literal([0.5, 1, 2.5]).optional(),
      }),
    },
  },
});

export const Texts = defineKind({
  group,
  kind: "Text",
  versions: {
    v1: {
      spec: z.object({
        any: z.string().optional(),
        bounded: z.string().min(2).max(5).optional(),
        exact: z.string().length(3).optional(),
        pattern: z
          .string()
          .regex(/^[a-z]([-a-z0-9]*[a-z0-9])?$/)
          .optional(),
        insensitive: z
          .string()
          .regex(/^[a-f]+$/i)
          .optional(),
        unicode: z
          .string()
          .regex(/^[\u0041-\u005a]+$/)
          .optional(),
        twoPatterns: z.string().regex(/^a/).regex(/z$/).optional(),
        prefix: z.string().startsWith("pre-").optional(),
        suffix: z.string().endsWith(".txt").optional(),
        inside: z.string().includes("@").optional(),
        lower: z.string().lowercase().optional(),
        upper: z.string().uppercase().optional(),
        template: z.templateLiteral(["v", z.int()]).optional(),
        chosen: z.enum(["small", "large"]).optional(),
        one: z.literal("only").optional(),
        united: z.union([z.literal("a"), z.enum(["b", "c"])]).optional(),
      }),
    },
  },
});

export const Formats = defineKind({
  group,
  kind: "Format",
  versions: {
    v1: {
      spec: z.object({
        email: z.email().optional(),
        url: z.url().optional(),
        web: z.httpUrl().optional(),
        uuid: z.uuid().optional(),
        uuid4: z.uuidv4().optional(),
        ipv4: z.ipv4().optional(),
        ipv6: z.ipv6().optional(),
        cidr: z.cidrv4().optional(),
        mac: z.mac().optional(),
        hostname: z.hostname().optional(),
        date: z.iso.date().optional(),
        time: z.iso.time().optional(),
        timestamp: z.iso.datetime().optional(),
        seconds: z.iso.datetime({ precision: 0 }).optional(),
        bytes: z.base64().optional(),
        duration: duration().optional(),
        phone: z.e164().optional(),
        ulid: z.ulid().optional(),
      }),
    },
  },
});

export const Flags = defineKind({
  group,
  kind: "Flag",
  versions: {
    v1: { spec: z.object({ on: z.boolean(), off: z.literal(false).optional(), maybe: z.boolean().default(true) }) },
  },
});

export const Mixed = defineKind({
  group,
  kind: "Mixed",
  plural: "mixed",
  versions: {
    v1: {
      spec: z.object({
        port: intOrString().optional(),
        surge: z.union([z.int().min(0).max(100), z.string().regex(/^[0-9]+%$/)]).default("25%"),
        memory: quantity().optional(),
        limits: z.record(z.string(), quantity()).default({ cpu: "1" }),
      }),
    },
  },
});

export const Nullables = defineKind({
  group,
  kind: "Nullable",
  versions: {
    v1: {
      spec: z.object({
        text: z.string().nullable(),
        number: z.int().nullable().optional(),
        choice: z.enum(["a", "b"]).nullable().optional(),
        literal: z.literal(["x", null]).optional(),
        nullish: z.string().max(3).nullish(),
        object: z.object({ x: z.int() }).nullable().optional(),
        list: z.array(z.string().nullable()).optional(),
        united: z.union([z.int(), z.null()]).optional(),
        defaulted: z.string().nullable().default("d"),
      }),
    },
  },
});
