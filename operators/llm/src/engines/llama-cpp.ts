import { CACHE_FOLDER, PORT } from "../container-layout.ts";
import type { Engine } from "./engine.ts";
import { httpProbes } from "./http-probes.ts";
import { imageOf } from "./image.ts";

/** More layers than any model has: all are on the GPUs. */
const ALL_LAYERS = "999";
const IMAGE = "ghcr.io/ggml-org/llama.cpp:server";

/** llama.cpp's server: models in GGUF files, also on CPUs. It divides the layers of a model among its GPUs automatically. */
export const llamaCpp: Engine = {
  image: imageOf({ none: IMAGE, NVIDIA: `${IMAGE}-cuda`, AMD: `${IMAGE}-rocm`, Intel: `${IMAGE}-intel` }),
  args(spec, { name, location }) {
    const isFile = location?.startsWith("/") ?? false;
    return [
      ...(isFile ? ["--model", location!] : ["--hf-repo", location ?? name]),
      "--alias",
      name,
      "--host",
      "0.0.0.0",
      "--port",
      String(PORT.containerPort),
      "--metrics",
      ...(spec.gpuCount > 0 ? ["--n-gpu-layers", ALL_LAYERS] : []),
    ];
  },
  ownArgs: ["--model", "--hf-repo", "--alias", "--host", "--port", "--metrics"],
  aliases: { "-m": "--model", "-hf": "--hf-repo", "-hfr": "--hf-repo", "-a": "--alias" },
  takesArgs: true,
  env: [{ name: "LLAMA_CACHE", value: CACHE_FOLDER }],
  probes: httpProbes("/health"),
  inFlight: ["llamacpp:requests_processing", "llamacpp:requests_deferred"],
  queueMetric: "llamacpp:requests_deferred",
  // It does not count requests, so that no load follows from its metrics.
  isMeasured: false,
  parallelism: "fixed",
  sources: ["huggingFace", "claim", "s3", "image"],
  fileSuffix: ".gguf",
};
