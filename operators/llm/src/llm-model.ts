import { age, cel, condition, defineKind, listMap, type ObjectOf, quantity, wide } from "konverge";
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
        replicas: z.int().min(0).max(1000).default(1).describe("How many inference servers run."),
        gpuCount: z.int().min(0).max(16).default(1).describe("GPUs for each replica; the model is split across them."),
        gpuType: z.string().min(1).optional().describe("Only nodes whose label nvidia.com/gpu.product says this."),
        modelPath: z
          .string()
          .regex(/^\//)
          .optional()
          .describe("Where the model's files are on the node. Default: the server fetches the model by its name."),
        image: z.string().min(1).default("vllm/vllm-openai:latest").describe("The inference server."),
        args: z.array(z.string()).optional().describe("Further arguments of the inference server."),
        env: z
          .array(z.object({ name: z.string().min(1), value: z.string().default("") }))
          .check(listMap("name"))
          .optional()
          .describe("Further environment variables."),
        sharedMemory: quantity().default("8Gi").describe("Size of /dev/shm, through which GPUs' processes talk."),
      }),
      status: z.object({
        replicas: z.int().optional(),
        readyReplicas: z.int().optional(),
        selector: z.string().optional(),
      }),
      columns: {
        Model: ".spec.modelName",
        Replicas: ".spec.replicas",
        Ready: condition("Ready"),
        GPU: wide(".spec.gpuType"),
        Age: age,
      },
      scale: { replicas: ".spec.replicas", statusReplicas: ".status.replicas", selector: ".status.selector" },
      rules: [cel("self.gpuCount > 0 || !has(self.gpuType)", "gpuType says which GPUs, but gpuCount asks for none")],
    },
  },
});
export type LLMModel = ObjectOf<typeof LLMModel>;
