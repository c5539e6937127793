import type { Container, EnvVar, Probe } from "konverge/kinds";
import type { FileSupply } from "../file-supply.ts";
import type { FileSource } from "../model-source.ts";
import type { ServingSpec } from "../serving-spec.ts";

/** What is served: the model, by its name in the API and where its files are. */
export interface ServedModel {
  readonly name: string;
  /** A folder, a file or a repository; undefined if the engine downloads the model by its name. */
  readonly location: string | undefined;
}

/** What an engine needs to start, to be probed and to be measured. */
export interface Engine {
  /** The image of a spec that names none; undefined if there is none for its accelerators. */
  image(spec: ServingSpec): string | undefined;
  /** The program; undefined for the entry point of the image. */
  readonly command?: readonly string[];
  /** The arguments that follow from the spec, before those of the user. */
  args(spec: ServingSpec, model: ServedModel): readonly string[];
  /** The arguments of adapters, which are at these places. */
  adapterArgs?(lora: NonNullable<ServingSpec["lora"]>, supplies: readonly FileSupply[]): readonly string[];
  /** Flags that follow from other fields, and users therefore must not set. */
  readonly ownArgs: readonly string[];
  /** Those of adapters. */
  readonly adapterFlags?: readonly string[];
  /** Other names of these flags. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Whether it takes arguments of the user. */
  readonly takesArgs: boolean;
  readonly env?: readonly EnvVar[];
  readonly probes: (startupSeconds: number) => Record<"startupProbe" | "readinessProbe" | "livenessProbe", Probe>;
  /** The series that count requests in progress and waiting; none if it reports no metrics. */
  readonly inFlight: readonly string[];
  /** The series by which an autoscaler sees that requests queue up. */
  readonly queueMetric: string;
  /** Whether its metrics say what load there is. */
  readonly isMeasured: boolean;
  /** How it splits a model across GPUs, as far as `parallelism` can change that. */
  readonly parallelism: "fields" | "fixed";
  /** The places that its models can come from. */
  readonly sources: readonly (keyof FileSource)[];
  /** Fetches a model that the server does not download itself. */
  download?(spec: ServingSpec, model: ServedModel): Container;
  /** What a model's file must end with. */
  readonly fileSuffix?: string;
}
