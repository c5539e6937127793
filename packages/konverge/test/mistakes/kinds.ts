import { cel, conditionColumn, defineKind, listMap, z } from "konverge";
import { Website } from "./website.ts";

export const misspelled = Website.new({
  metadata: { name: "blog" },
  // error: NoSuchField<"relicas">
  spec: { image: "nginx", relicas: 2 },
});

export const incomplete = Website.new({
  metadata: { name: "blog" },
  // error: Property 'image' is missing
  spec: { replicas: 2 },
});

export const wrongEnum = Website.draft({
  metadata: { name: "blog" },
  // error: Type '"huge"' is not assignable to type
  spec: { image: "nginx", size: "huge" },
});

export const wrongType = Website.draft({
  metadata: { name: "blog" },
  // error: Type 'string' is not assignable to type 'number'
  spec: { image: "nginx", replicas: "2" },
});

export const drafted = Website.draft({
  metadata: { name: "blog" },
  spec: { image: "nginx" },
  // error: NoSuchField<"status">
  status: { readyReplicas: 1 },
});

export const nameOutside = Website.new({
  // error: NoSuchField<"name">
  name: "blog",
  metadata: { name: "blog" },
  spec: { image: "nginx" },
});

export const defaults = z.object({
  // error: Argument of type 'string' is not assignable to parameter of type '() => number'
  replicas: z.int().default("1"),
  // error: Argument of type 'string' is not assignable to parameter of type '() => "large" | "small"'
  size: z.enum(["small", "large"]).default("medium"),
});

export const columns = defineKind({
  group: "example.com",
  kind: "Shop",
  versions: {
    v1: {
      spec: z.object({ image: z.string() }),
      columns: {
        // error: NoSuchField<".spec.imag">
        Image: ".spec.imag",
        Ready: conditionColumn("Ready"),
      },
    },
  },
});

export const scaled = defineKind({
  group: "example.com",
  kind: "Shop",
  versions: {
    v1: {
      spec: z.object({ replicas: z.int() }),
      status: z.object({ replicas: z.int() }),
      // error: NoSuchField<".spec.size">
      scale: { replicas: ".spec.size", statusReplicas: ".status.replicas" },
    },
  },
});

export const stored = defineKind({
  group: "example.com",
  kind: "Shop",
  // error: Type '"v3"' is not assignable to type
  stored: "v3",
  versions: { v1: { spec: z.object({}) }, v2: { spec: z.object({}) } },
});

export const scope = defineKind({
  group: "example.com",
  kind: "Shop",
  // error: Type '"Namespace"' is not assignable to type
  scope: "Namespace",
  versions: { v1: { spec: z.object({}) } },
});

export const converted = defineKind({
  group: "example.com",
  kind: "Shop",
  stored: "v2",
  versions: { v1: { spec: z.object({ size: z.int() }) }, v2: { spec: z.object({ replicas: z.int() }) } },
  conversion: {
    v1: {
      // error: Property 'replicas' does not exist
      toStored: ({ spec }) => ({ spec: { replicas: spec.replicas } }),
      // error: 'sise' does not exist in type
      fromStored: ({ spec }) => ({ spec: { sise: spec.replicas } }),
    },
  },
});

// error: Record<"nam", unknown>
export const keyed = z.array(z.object({ name: z.string() })).check(listMap("nam"));

export const ruled = defineKind({
  group: "example.com",
  kind: "Shop",
  versions: {
    v1: {
      spec: z.object({ min: z.int(), max: z.int() }),
      // error: Type 'string' is not assignable to type 'CelRule'
      rules: ["self.min <= self.max", cel("self.min >= 0")],
    },
  },
});
