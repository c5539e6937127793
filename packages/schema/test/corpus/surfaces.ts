import { ageColumn, conditionColumn, defineKind, wideColumn, z } from "@konverge/schema";

/** What a kind looks like from outside: names, scope, columns, subresources, versions. */

const group = "surfaces.example.com";

export const Policy = defineKind({
  group,
  kind: "Policy",
  scope: "Cluster",
  shortNames: ["pol", "pols"],
  categories: ["all", "rules"],
  labels: { "example.com/part": "corpus" },
  annotations: { "example.com/note": "made for tests" },
  versions: { v1: { spec: z.object({ allow: z.array(z.string()).default([]) }) } },
});

export const Box = defineKind({ group, kind: "Box", versions: { v1: { spec: z.object({ size: z.int() }) } } });

export const Mouse = defineKind({
  group,
  kind: "Mouse",
  plural: "mice",
  singular: "mouse",
  listKind: "MouseList",
  versions: { v1: { spec: z.object({}) } },
});

export const Columns = defineKind({
  group,
  kind: "ColumnSet",
  versions: {
    v1: {
      spec: z.object({
        text: z.string().optional(),
        count: z.int().optional(),
        ratio: z.number().optional(),
        on: z.boolean().optional(),
        since: z.iso.datetime().optional(),
        tags: z.array(z.string()).optional(),
      }),
      status: z.object({}),
      columns: {
        Text: ".spec.text",
        Count: { jsonPath: ".spec.count", description: "How many." },
        Ratio: wideColumn(".spec.ratio"),
        On: ".spec.on",
        Since: ".spec.since",
        Tag: ".spec.tags[0]",
        Ready: conditionColumn("Ready"),
        Reason: { jsonPath: '.status.conditions[?(@.type=="Ready")].reason', type: "string", priority: 1 },
        Age: ageColumn,
      },
    },
  },
});

export const Selectable = defineKind({
  group,
  kind: "Selectable",
  versions: {
    v1: {
      spec: z.object({
        node: z.string().optional(),
        ready: z.boolean().optional(),
        shard: z.int().optional(),
        tier: z.enum(["gold", "lead"]).optional(),
      }),
      selectableFields: [".spec.node", ".spec.ready", ".spec.shard", ".spec.tier"],
    },
  },
});

const evolvingStatus = z.object({ visited: z.int().optional() });

export const Evolving = defineKind({
  group,
  kind: "Evolving",
  plural: "evolving",
  stored: "v1",
  versions: {
    v1: { spec: z.object({ a: z.string(), b: z.int().default(1) }), status: evolvingStatus },
    v1beta1: {
      deprecated: true,
      spec: z.object({ a: z.string().max(9), b: z.int().optional() }),
      status: evolvingStatus,
    },
    v1alpha2: {
      deprecated: "use v1, v1alpha2 goes away",
      spec: z.object({ a: z.string(), b: z.int().optional() }),
      status: evolvingStatus,
    },
    v1alpha1: { served: false, spec: z.object({ a: z.string().optional() }) },
  },
});

export const OwnConditions = defineKind({
  group,
  kind: "OwnCondition",
  versions: {
    v1: {
      spec: z.object({ x: z.int().optional() }),
      status: z.object({
        conditions: z.array(z.object({ type: z.string(), ok: z.boolean() })).optional(),
        phase: z.enum(["Up", "Down"]).default("Down"),
      }),
    },
  },
});

export const OptionalSpec = defineKind({
  group,
  kind: "OptionalSpec",
  versions: { v1: { spec: z.object({ x: z.int() }).optional() } },
});

export const Described = defineKind({
  group,
  kind: "Described",
  plural: "described",
  description: "Everything here says what it is.",
  versions: {
    v1: {
      description: "The first version.",
      spec: z
        .object({
          inner: z.string().describe("Before the wrapper.").optional(),
          outer: z.string().optional().describe("After the wrapper."),
          titled: z.int().meta({ title: "A number", description: "With a title." }).default(1),
          list: z.array(z.string().describe("Each item.")).describe("All items.").optional(),
        })
        .describe("What is wanted."),
      status: z.object({ visited: z.boolean().optional().describe("Whether it was noticed.") }).describe("What is."),
    },
  },
});
