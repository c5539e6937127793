import {
  ageColumn,
  cel,
  conditionColumn,
  defineKind,
  immutable,
  listMap,
  opaqueObject,
  quantity,
  wideColumn,
  z,
} from "@konverge/schema";

/** Kinds as operators have them: models, databases, caches. */

export const LLMModel = defineKind({
  group: "ai.example.com",
  kind: "LLMModel",
  shortNames: ["llm"],
  categories: ["ai"],
  description: "A language model that is served over HTTP.",
  versions: {
    v1: {
      spec: z.object({
        modelName: z.string().optional(),
        replicas: z.int().min(0).default(1),
        gpuCount: z.int().min(0).max(16).default(1),
        gpuType: z.string().optional(),
        modelPath: z.string().optional(),
      }),
      status: z.object({ readyReplicas: z.int().optional() }),
      columns: {
        Model: ".spec.modelName",
        Replicas: ".spec.replicas",
        Ready: conditionColumn("Ready"),
        Age: ageColumn,
      },
      rules: [cel("self.replicas <= 100", "at most 100 replicas")],
    },
  },
});

export const Database = defineKind({
  group: "data.example.com",
  kind: "Database",
  shortNames: ["db"],
  versions: {
    v1: {
      spec: z.object({
        engine: z.enum(["postgres", "mysql"]).check(immutable()),
        version: z.string().regex(/^[0-9]+(\.[0-9]+)*$/),
        storage: z.object({
          size: quantity(),
          className: z.string().max(253).check(immutable()).optional(),
        }),
        backup: z.object({ schedule: z.string().min(9), keep: z.int().min(1).default(7) }).optional(),
        users: z
          .array(z.object({ name: z.string().max(63), superuser: z.boolean().default(false) }))
          .max(50)
          .check(listMap("name"))
          .default([]),
      }),
      status: z.object({
        phase: z.enum(["Creating", "Running", "Failed"]).optional(),
        endpoint: z.string().optional(),
      }),
      columns: {
        Engine: ".spec.engine",
        Phase: ".status.phase",
        Size: wideColumn(".spec.storage.size"),
        Age: ageColumn,
      },
    },
  },
});

export const CacheCluster = defineKind({
  group: "data.example.com",
  kind: "CacheCluster",
  versions: {
    v1: {
      spec: z.object({ replicas: z.int32().min(0).max(1000).default(3), memory: quantity().default("1Gi") }),
      status: z.object({ replicas: z.int32().optional(), selector: z.string().optional() }),
      scale: { replicas: ".spec.replicas", statusReplicas: ".status.replicas", selector: ".status.selector" },
    },
  },
});

export const ModelDeployment = defineKind({
  group: "ai.example.com",
  kind: "ModelDeployment",
  versions: {
    v1alpha1: {
      spec: z.object({
        model: z.object({ uri: z.url(), revision: z.string().default("main") }),
        scaling: z
          .object({ min: z.int().min(0).default(1), max: z.int().min(1).default(4) })
          .check(cel("self.min <= self.max", "min must not exceed max"))
          .prefault({}),
        template: opaqueObject<{ spec?: { containers?: { name: string; image?: string }[] } }>().optional(),
      }),
      status: z.object({ url: z.url().optional() }),
    },
  },
});

/** v1alpha1 names its replicas by role; v1beta1 lists them. */
export const TrainingJob = defineKind({
  group: "ai.example.com",
  kind: "TrainingJob",
  stored: "v1alpha1",
  versions: {
    v1alpha1: {
      spec: z.object({
        image: z.string().min(1),
        workers: z.int().min(1).default(1),
        framework: z.enum(["pytorch", "tensorflow"]).default("pytorch"),
      }),
      status: z.object({ succeeded: z.int().optional() }),
    },
    v1beta1: {
      spec: z.object({
        image: z.string().min(1),
        framework: z.enum(["pytorch", "tensorflow"]).default("pytorch"),
        roles: z
          .array(z.object({ name: z.enum(["worker", "master"]), replicas: z.int().min(1).default(1) }))
          .max(2)
          .check(listMap("name")),
      }),
      status: z.object({ succeeded: z.int().optional() }),
    },
  },
  conversion: {
    v1beta1: {
      toStored: ({ spec, status }) => {
        const workers = spec.roles.find(({ name }) => name === "worker")?.replicas ?? 1;
        return { spec: { image: spec.image, framework: spec.framework, workers }, ...(status && { status }) };
      },
      fromStored: ({ spec, status }) => {
        const roles = [{ name: "worker" as const, replicas: spec.workers }];
        return { spec: { image: spec.image, framework: spec.framework, roles }, ...(status && { status }) };
      },
    },
  },
});
