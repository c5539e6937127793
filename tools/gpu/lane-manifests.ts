import { readFileSync } from "node:fs";
import { parseYaml } from "@konverge/schema";
import { isWithoutGpu } from "./requirements.ts";

/** What all objects of the lane have. */
interface LaneObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: Readonly<Record<string, unknown>>;
}

/** What the objects ask for where there is no GPU: the processor, small models and little of the machine. */
const ON_THE_PROCESSOR: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  TrainingJob: {
    gpuPerWorker: 0,
    hyperparameters: {
      steps: 400,
      checkpoint_every: 25,
      width: 64,
      layers: 2,
      heads: 2,
      batch: 4,
      length: 32,
      learning_rate: 0.003,
    },
    resources: { requests: { cpu: "50m", memory: "128Mi" } },
  },
  LLMModel: { gpuCount: 0, modelName: "konverge/random-1m", resources: small() },
  ModelDeployment: { gpuCount: 0, model: "konverge/random-1m", resources: small() },
};

function small() {
  return { requests: { cpu: "50m", memory: "128Mi", "ephemeral-storage": "16Mi" } };
}

/** The objects of a file in the folder `manifests`, as they are; without a GPU, they ask for none. */
export function laneManifests(name: string): LaneObject[] {
  const text = readFileSync(new URL(`manifests/${name}`, import.meta.url), "utf8");
  const objects = parseYaml(text) as LaneObject[];
  if (!isWithoutGpu()) return objects;
  return objects.map((one) => ({ ...one, spec: { ...one.spec, ...ON_THE_PROCESSOR[one.kind] } }));
}
