import { age, condition, defineKind, type ObjectOf } from "konverge";
import { z } from "zod";

/** A served large language model: so many replicas of an inference server, each with its GPUs. */
export const LLMModel = defineKind({
  group: "ai.example.com",
  kind: "LLMModel",
  shortNames: ["llm"],
  versions: {
    v1: {
      spec: z.object({
        modelName: z.string().min(1).optional().describe("The model to serve. Default: the name of the object."),
        replicas: z.int().min(0).default(1),
        gpuCount: z.int().min(0).max(16).default(1).describe("GPUs for each replica."),
        gpuType: z.string().optional().describe("Only nodes with this type of GPU."),
        modelPath: z.string().optional().describe("Where the model's files are on the node."),
      }),
      status: z.object({ readyReplicas: z.int().optional() }),
      columns: { Model: ".spec.modelName", Replicas: ".spec.replicas", Ready: condition("Ready"), Age: age },
    },
  },
});
export type LLMModel = ObjectOf<typeof LLMModel>;
