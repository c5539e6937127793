import { cel, duration, listMap, opaqueObject, quantity, z } from "konverge";
import type { EnvVar, EnvVarSource } from "konverge/kinds";
import { type PodTemplateOverlay, podTemplateField } from "konverge/pods";
import { type Accelerator, acceleratorField, acceleratorRules } from "./accelerator.ts";
import { ENGINES, type EngineName } from "./engine-names.ts";
import { type LoraSpec, loraField } from "./lora.ts";
import { type FileSource, modelSourceField } from "./model-source.ts";
import { type Parallelism, parallelismField, parallelismRules } from "./parallelism.ts";
import { routeField } from "./route-spec.ts";
import { resourcesField, type ServerResources } from "./server-resources.ts";

/** Fields that every kind has which runs inference servers. */
export const servingFields = {
  engine: z
    .enum(ENGINES)
    .optional()
    .describe("The program that serves the model. LlamaCpp and Ollama also serve without GPUs. Default: vLLM."),
  gpuCount: z.int().min(0).max(16).default(1).describe("GPUs for each replica; the model is split across them."),
  accelerator: acceleratorField.optional(),
  parallelism: parallelismField.optional(),
  gpuType: z
    .string()
    .min(1)
    .max(63)
    .regex(/^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/)
    .optional()
    .describe("Only nodes with GPUs of this type: H100 also matches NVIDIA-H100-80GB-HBM3."),
  modelPath: z
    .string()
    .max(1024)
    .regex(/^(\/|pvc:\/\/[a-z0-9]([-a-z0-9.]*[a-z0-9])?(\/|$))/)
    .optional()
    .describe(
      "Location of the model's files: a folder on the node (/models/llama) or on a claim (pvc://models/llama). Default: the server downloads the model by its name.",
    ),
  source: modelSourceField
    .optional()
    .describe("Where the model's files come from, instead of modelPath. Default: the server downloads it by its name."),
  lora: loraField
    .optional()
    .describe("LoRA adapters that are served beside the model, each as a model with its own name."),
  route: routeField
    .optional()
    .describe("An HTTPRoute of the Gateway API that leads requests from outside the cluster to the model."),
  cacheClaim: z.string().min(1).max(253).optional().describe("A claim that caches downloaded models for new replicas."),
  image: z
    .string()
    .min(1)
    .max(512)
    .optional()
    .describe("The inference server. Default: the engine's, such as vllm/vllm-openai:latest."),
  args: z.array(z.string().max(1024)).max(100).optional().describe("Further arguments of the inference server."),
  env: z
    .array(
      z.object({
        name: z.string().min(1).max(256),
        value: z.string().optional(),
        valueFrom: opaqueObject<EnvVarSource>().optional().describe("Sets HF_TOKEN from a Secret."),
      }),
    )
    .max(100)
    .check(listMap("name"))
    .optional()
    .describe("Further environment variables."),
  resources: resourcesField.optional(),
  sharedMemory: quantity().default("8Gi").describe("Size of /dev/shm, which processes of several GPUs share."),
  startupTimeout: duration()
    .default("30m")
    .describe("How long a replica can take to load its model before it is restarted."),
  template: podTemplateField(),
};

/** Rules about these fields. */
export const servingRules = [
  cel("self.gpuCount > 0 || !has(self.gpuType)", "gpuType is set, but gpuCount requests no GPUs"),
  ...acceleratorRules,
  ...parallelismRules,
  cel(
    "has(self.image) || self.gpuCount == 0 || !has(self.accelerator) || !has(self.accelerator.resource)",
    "image must be set: the engines' images are for NVIDIA, AMD and Intel",
  ),
  cel(
    "has(self.image) || self.gpuCount == 0 || !has(self.accelerator) || !has(self.accelerator.vendor) || " +
      "self.accelerator.vendor in {'vLLM': ['NVIDIA', 'AMD'], 'SGLang': ['NVIDIA'], 'LlamaCpp': ['NVIDIA', 'AMD', 'Intel'], 'Ollama': ['NVIDIA', 'AMD']}[has(self.engine) ? self.engine : 'vLLM']",
    "image must be set: this engine has none for GPUs of this vendor",
  ),
  cel(
    "!has(self.parallelism) || !has(self.engine) || !(self.engine in ['LlamaCpp', 'Ollama'])",
    "parallelism is for vLLM and SGLang: LlamaCpp and Ollama divide a model among GPUs automatically",
  ),
  cel(
    "!has(self.lora) || !has(self.engine) || !(self.engine in ['LlamaCpp', 'Ollama'])",
    "lora is for vLLM and SGLang",
  ),
  cel(
    "!has(self.engine) || self.engine != 'Ollama' || !has(self.args)",
    "Ollama takes no arguments: set its variables in env, such as OLLAMA_CONTEXT_LENGTH",
  ),
  cel(
    "!has(self.engine) || self.engine != 'Ollama' || (!has(self.modelPath) && (!has(self.source) || has(self.source.huggingFace)))",
    "Ollama pulls its model: set modelName to a name of its library, or source.huggingFace to a repository with GGUF files",
  ),
  cel(
    "!has(self.engine) || !(self.engine in ['LlamaCpp', 'Ollama']) || !has(self.source) || !has(self.source.huggingFace) || !has(self.source.huggingFace.revision)",
    "source.huggingFace.revision is for vLLM and SGLang",
  ),
  cel("!has(self.source) || !has(self.modelPath)", "source and modelPath must not be set together"),
];

/** What the two kinds ask of an inference server. */
export interface ServingSpec {
  readonly engine?: EngineName | undefined;
  readonly accelerator?: Accelerator | undefined;
  readonly gpuCount: number;
  readonly parallelism?: Parallelism | undefined;
  readonly gpuType?: string | undefined;
  readonly modelPath?: string | undefined;
  readonly source?: FileSource | undefined;
  readonly lora?: LoraSpec | undefined;
  readonly cacheClaim?: string | undefined;
  readonly image?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly env?: readonly EnvVar[] | undefined;
  readonly resources?: ServerResources | undefined;
  readonly sharedMemory: string | number;
  readonly startupTimeout: string;
  readonly template?: PodTemplateOverlay | undefined;
}
