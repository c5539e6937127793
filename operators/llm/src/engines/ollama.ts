import { CACHE_FOLDER, PORT } from "../container-layout.ts";
import type { Engine, ServedModel } from "./engine.ts";
import { imageOf } from "./image.ts";

/** Clients read the address of the server from it, too. */
const ADDRESS = { name: "OLLAMA_HOST", value: `0.0.0.0:${PORT.containerPort}` };
const MODELS = { name: "OLLAMA_MODELS", value: `${CACHE_FOLDER}/ollama` };

/** Ollama pulls its model before it serves it, and keeps it loaded. It reports no metrics. */
export const ollama: Engine = {
  image: imageOf({ none: "ollama/ollama:latest", NVIDIA: "ollama/ollama:latest", AMD: "ollama/ollama:rocm" }),
  args: () => ["serve"],
  ownArgs: [],
  takesArgs: false,
  // A model that is unloaded would make the next request wait.
  env: [ADDRESS, MODELS, { name: "OLLAMA_KEEP_ALIVE", value: "-1" }],
  probes: (startupSeconds) => {
    const answers = { httpGet: { path: "/api/version", port: PORT.name } };
    const load = "until ollama list >/dev/null 2>&1; do sleep 1; done; exec ollama run \"$MODEL_NAME\" ''";
    return {
      // Loads the model. Ollama stops loading when the client that caused it goes away, so it is tried once, for all the time.
      startupProbe: {
        exec: { command: ["/bin/sh", "-c", load] },
        timeoutSeconds: Math.max(1, Math.ceil(startupSeconds)),
        failureThreshold: 1,
      },
      readinessProbe: { ...answers, periodSeconds: 5 },
      livenessProbe: { ...answers, periodSeconds: 10, failureThreshold: 6 },
    };
  },
  inFlight: [],
  queueMetric: "ollama_requests_waiting",
  isMeasured: false,
  parallelism: "fixed",
  sources: ["huggingFace"],
  download: (spec, model) => ({
    name: "download-model",
    image: spec.image ?? ollama.image(spec) ?? "",
    command: ["/bin/sh", "-c", pullScript(model)],
    env: [ADDRESS, MODELS, { name: "MODEL_NAME", value: model.name }, { name: "PULLED", value: pulledName(model) }],
  }),
};

/** A repository of Hugging Face, or a name in Ollama's own library. */
function pulledName({ name, location }: ServedModel): string {
  return location ? `hf.co/${location}` : name;
}

/** Ollama's client talks to a server only, so one runs meanwhile. Wherever the model comes from, it has its own name in the API. */
function pullScript({ location }: ServedModel): string {
  const named = location ? ' && ollama cp "$PULLED" "$MODEL_NAME"' : "";
  return `ollama serve & until ollama list >/dev/null 2>&1; do sleep 1; done; ollama show "$MODEL_NAME" >/dev/null 2>&1 || { ollama pull "$PULLED"${named}; }`;
}
