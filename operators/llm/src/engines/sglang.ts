import { PORT } from "../container-layout.ts";
import { maxLorasOf } from "../lora.ts";
import { gpuParts } from "../parallelism.ts";
import type { Engine } from "./engine.ts";
import { httpProbes } from "./http-probes.ts";
import { imageOf } from "./image.ts";

export const sglang: Engine = {
  image: imageOf({ NVIDIA: "lmsysorg/sglang:latest" }),
  command: ["python3", "-m", "sglang.launch_server"],
  args(spec, { name, location }) {
    const revision = spec.source?.huggingFace?.revision;
    const { tensor, pipeline, data, expert } = gpuParts(spec);
    // Experts are divided over all GPUs; attention then runs as several copies within them.
    const across = expert ? tensor * data : tensor;
    return [
      "--model-path",
      location ?? name,
      "--served-model-name",
      name,
      ...(revision ? ["--revision", revision] : []),
      "--host",
      "0.0.0.0",
      "--port",
      String(PORT.containerPort),
      "--enable-metrics",
      "--tp-size",
      String(across),
      ...(pipeline > 1 ? ["--pp-size", String(pipeline)] : []),
      ...(data > 1 ? ["--dp-size", String(data)] : []),
      ...(expert ? ["--ep-size", String(across)] : []),
      ...(expert && data > 1 ? ["--enable-dp-attention"] : []),
      ...(spec.gpuCount === 0 ? ["--device", "cpu"] : []),
    ];
  },
  adapterArgs(lora, supplies) {
    const { adapters, maxRank, maxCpuLoras } = lora;
    return [
      "--enable-lora",
      "--lora-paths",
      ...adapters.map(({ name }, i) => `${name}=${supplies[i]!.location}`),
      "--max-loras-per-batch",
      String(maxLorasOf(lora)),
      ...(maxRank === undefined ? [] : ["--max-lora-rank", String(maxRank)]),
      ...(maxCpuLoras === undefined ? [] : ["--max-loaded-loras", String(maxCpuLoras)]),
    ];
  },
  adapterFlags: ["--enable-lora", "--lora-paths", "--max-loras-per-batch", "--max-lora-rank", "--max-loaded-loras"],
  ownArgs: [
    "--model-path",
    "--served-model-name",
    "--host",
    "--port",
    "--enable-metrics",
    "--tp-size",
    "--pp-size",
    "--dp-size",
    "--ep-size",
    "--enable-dp-attention",
  ],
  aliases: {
    "--model": "--model-path",
    "--tensor-parallel-size": "--tp-size",
    "--pipeline-parallel-size": "--pp-size",
    "--data-parallel-size": "--dp-size",
    "--expert-parallel-size": "--ep-size",
    "--tp": "--tp-size",
    "--pp": "--pp-size",
    "--dp": "--dp-size",
    "--ep": "--ep-size",
  },
  takesArgs: true,
  // Only the start is worth a token: later, a full queue would make a busy server look dead.
  probes: httpProbes("/health"),
  inFlight: ["sglang:num_running_reqs", "sglang:num_queue_reqs"],
  queueMetric: "sglang:num_queue_reqs",
  isMeasured: true,
  parallelism: "fields",
  sources: ["huggingFace", "claim", "s3", "image"],
};
