/**
 * The programs that serve models. Each is one value: its arguments, probes, metrics and what it cannot do. Nothing else in
 * this package asks which one it is.
 */

import type { EngineName } from "../engine-names.ts";
import type { ServingSpec } from "../serving-spec.ts";
import type { Engine } from "./engine.ts";
import { llamaCpp } from "./llama-cpp.ts";
import { ollama } from "./ollama.ts";
import { sglang } from "./sglang.ts";
import { vllm } from "./vllm.ts";

const BY_NAME: Readonly<Record<EngineName, Engine>> = {
  vLLM: vllm,
  SGLang: sglang,
  LlamaCpp: llamaCpp,
  Ollama: ollama,
};

/** The engine of a spec; vLLM unless it names another. */
export function engineOf({ engine = "vLLM" }: Pick<ServingSpec, "engine">): Engine {
  return BY_NAME[engine];
}

/** The image that servers run: that of the spec, or the engine's. */
export function serverImage(spec: ServingSpec): string {
  return spec.image ?? engineOf(spec).image(spec) ?? "";
}
