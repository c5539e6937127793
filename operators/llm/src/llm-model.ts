import { ageColumn, cel, conditionColumn, defineKind, type ObjectOf, wideColumn, z } from "konverge";
import { adapterStatus } from "./lora.ts";
import { rolloutField } from "./rollout-room.ts";
import { servingFields, servingRules } from "./serving-spec.ts";

/** A served large language model: replicas of an inference server, each with its GPUs. */
export const LLMModel = defineKind({
  group: "ai.example.com",
  kind: "LLMModel",
  description: "A served large language model: replicas of an inference server, each with its GPUs.",
  shortNames: ["llm"],
  versions: {
    v1: {
      spec: z.object({
        modelName: z.string().min(1).max(253).optional().describe("The model to serve. Default: the object's name."),
        replicas: z.int().min(0).max(1000).default(1).describe("Number of inference servers."),
        rollout: rolloutField.optional().describe("How a changed model is rolled out."),
        ...servingFields,
      }),
      status: z.object({
        model: z.string().optional().describe("The model that is served."),
        endpoint: z.string().optional().describe("Its URL inside the cluster."),
        adapters: z.array(adapterStatus).optional().describe("The LoRA adapters that are served."),
        replicas: z.int().optional(),
        readyReplicas: z.int().optional(),
        selector: z.string().optional(),
      }),
      columns: {
        Model: ".spec.modelName",
        Replicas: ".spec.replicas",
        Ready: conditionColumn("Ready"),
        GPU: wideColumn(".spec.gpuType"),
        Age: ageColumn,
      },
      scale: { replicas: ".spec.replicas", statusReplicas: ".status.replicas", selector: ".status.selector" },
      rules: servingRules,
      objectRules: [
        cel(
          "self.metadata.name.size() <= 54 && !self.metadata.name.contains('.')",
          "the name becomes part of a Service's name: at most 54 characters, and no dots",
        ),
      ],
    },
  },
});
export type LLMModel = ObjectOf<typeof LLMModel>;
