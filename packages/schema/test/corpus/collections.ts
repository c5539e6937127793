import { atomic, defineKind, listMap, listSet, maxProperties, minProperties, z } from "@konverge/schema";

/** Lists, maps and nested objects. */

const group = "collections.example.com";

export const Lists = defineKind({
  group,
  kind: "List",
  plural: "lists",
  listKind: "ListOfLists",
  versions: {
    v1: {
      spec: z.object({
        plain: z.array(z.string()).optional(),
        bounded: z.array(z.int()).min(1).max(3).optional(),
        exact: z.array(z.boolean()).length(2).optional(),
        set: z.array(z.string()).max(10).check(listSet()).optional(),
        numbers: z.array(z.int()).check(listSet()).optional(),
        atomic: z.array(z.string()).check(atomic()).optional(),
        nested: z.array(z.array(z.int().max(9)).max(2)).optional(),
        objects: z.array(z.object({ x: z.int(), y: z.int().default(0) })).optional(),
      }),
    },
  },
});

export const Ports = defineKind({
  group,
  kind: "PortSet",
  versions: {
    v1: {
      spec: z.object({
        ports: z
          .array(
            z.object({
              port: z.int().min(1).max(65535),
              protocol: z.enum(["TCP", "UDP"]).default("TCP"),
              name: z.string().max(15).optional(),
            }),
          )
          .min(1)
          .max(100)
          .check(listMap("port", "protocol")),
      }),
    },
  },
});

export const Maps = defineKind({
  group,
  kind: "Map",
  versions: {
    v1: {
      spec: z.object({
        labels: z.record(z.string(), z.string()).optional(),
        sizes: z.record(z.string(), z.int().min(1)).check(minProperties(1)).check(maxProperties(3)).optional(),
        nested: z.record(z.string(), z.record(z.string(), z.boolean())).optional(),
        objects: z.record(z.string(), z.object({ x: z.int(), y: z.int().default(2) })).optional(),
        owned: z.object({ a: z.string().optional(), b: z.string().optional() }).check(atomic()).optional(),
        lists: z.record(z.string(), z.array(z.string()).check(listSet())).optional(),
      }),
    },
  },
});

export const Roles = defineKind({
  group,
  kind: "RoleMap",
  versions: {
    v1: {
      spec: z.object({
        all: z.record(z.enum(["leader", "worker"]), z.object({ replicas: z.int().default(1) })),
        some: z.partialRecord(z.enum(["leader", "worker"]), z.int()).optional(),
      }),
    },
  },
});

export const Nested = defineKind({
  group,
  kind: "Nested",
  plural: "nested",
  versions: {
    v1: {
      spec: z.object({
        a: z.object({
          b: z
            .object({
              c: z.object({ d: z.array(z.object({ e: z.object({ f: z.string().max(4) }) })).optional() }).optional(),
            })
            .optional(),
        }),
      }),
    },
  },
});

export const Defaults = defineKind({
  group,
  kind: "Default",
  versions: {
    v1: {
      spec: z.object({
        number: z.int().default(1),
        text: z.string().default("x"),
        flag: z.boolean().default(false),
        list: z.array(z.string()).default(["a", "b"]),
        object: z.object({ x: z.int(), y: z.int().optional() }).default({ x: 1 }),
        inner: z
          .object({ x: z.int().default(1), deep: z.object({ y: z.string().default("z") }).prefault({}) })
          .prefault({}),
        ifPresent: z.object({ x: z.int().default(5) }).optional(),
        items: z.array(z.object({ x: z.int().default(3) })).optional(),
        map: z.record(z.string(), z.int()).default({ a: 1 }),
      }),
    },
  },
});
