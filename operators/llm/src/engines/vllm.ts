import { LORA_ARGS, loraArgs } from "../lora.ts";
import { PARALLEL_ARGS, parallelArgs } from "../parallelism.ts";
import { modelArgs, VLLM_ALIASES } from "../server-args.ts";
import type { Engine } from "./engine.ts";
import { httpProbes } from "./http-probes.ts";
import { imageOf } from "./image.ts";

/** The options of vLLM that are neither about its model nor about adapters, as arguments. */
const IMAGES = { NVIDIA: "vllm/vllm-openai:latest", AMD: "vllm/vllm-openai-rocm:latest" };

export const vllm: Engine = {
  image: imageOf(IMAGES),
  args(spec, { name, location }) {
    const revision = spec.source?.huggingFace?.revision;
    return [
      ...modelArgs(spec.image ?? vllm.image(spec) ?? "", location ?? name),
      // Wherever a model is loaded from, it keeps its own name in the API.
      ...(location ? ["--served-model-name", name] : []),
      ...(revision ? ["--revision", revision] : []),
      ...parallelArgs(spec),
    ];
  },
  adapterArgs: loraArgs,
  adapterFlags: LORA_ARGS,
  ownArgs: ["--model", "--served-model-name", "--port", ...PARALLEL_ARGS],
  aliases: VLLM_ALIASES,
  takesArgs: true,
  probes: httpProbes("/health"),
  inFlight: ["vllm:num_requests_running", "vllm:num_requests_waiting"],
  queueMetric: "vllm:num_requests_waiting",
  isMeasured: true,
  parallelism: "fields",
  sources: ["huggingFace", "claim", "s3", "image"],
};
