import { ConfigMap } from "konverge/kinds";
import { hyperparametersName, labelsOf } from "./names.ts";
import type { TrainingJob } from "./training-job.ts";

/** Hyperparameters as workers get them: texts, in the order of their names. */
export type Hyperparameters = Readonly<Record<string, string>>;

/** Where workers find a file for each hyperparameter, and all of them in `hyperparameters.json`. */
export const HYPERPARAMETERS_PATH = "/etc/training/hyperparameters";
const ALL = "hyperparameters.json";

/** The job's hyperparameters over those of the ConfigMap that it names. */
export function hyperparametersOf(job: TrainingJob, from: ConfigMap | undefined): Hyperparameters {
  const { [ALL]: _, ...given } = from?.data ?? {};
  const own = Object.entries(job.spec.hyperparameters ?? {}).map(([name, value]) => [name, textOf(value)] as const);
  const all = Object.entries({ ...given, ...Object.fromEntries(own) });
  return Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Scalars as they are written in YAML, anything larger as JSON. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** `learningRate` → `HP_LEARNING_RATE`. */
export function variableOf(name: string): string {
  return `HP_${words(name).join("_").toUpperCase()}`;
}

/** `learningRate` → `--learning-rate=0.1`. */
export function argumentOf(name: string, value: string): string {
  return `--${words(name).join("-").toLowerCase()}=${value}`;
}

function words(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== "");
}

/** The ConfigMap that workers mount; undefined if it would be empty, or is not used. */
export function hyperparametersConfigMap(job: TrainingJob, hyperparameters: Hyperparameters) {
  if (!job.spec.passHyperparameters.includes("file") || Object.keys(hyperparameters).length === 0) return undefined;
  const { namespace } = job.metadata;
  return ConfigMap.draft({
    metadata: { name: hyperparametersName(job), namespace, labels: labelsOf(job) },
    data: { ...hyperparameters, [ALL]: JSON.stringify(hyperparameters) },
  });
}
