import { cel, z } from "konverge";
import type { DeepReadonly } from "konverge/objects";

const parts = (what: string) => z.int().min(1).max(16).default(1).describe(what);

/** The field `parallelism` of a spec. */
export const parallelismField = z
  .object({
    tensor: z
      .int()
      .min(1)
      .max(16)
      .optional()
      .describe("Parts of each layer: --tensor-parallel-size. Default: what pipeline and data leave of gpuCount."),
    pipeline: parts("Groups of layers: --pipeline-parallel-size."),
    data: parts("Copies of the model in a replica, which share its requests: --data-parallel-size."),
    expert: z
      .boolean()
      .default(false)
      .describe("Divides experts instead of splitting each, over tensor × data GPUs: --enable-expert-parallel."),
  })
  .describe("How a replica uses its GPUs: tensor × pipeline × data is gpuCount. Default: tensor.");
export type Parallelism = DeepReadonly<z.infer<typeof parallelismField>>;

/** Rules about the field. Without GPUs, a server divides its work among processors as its arguments say. */
export const parallelismRules = [
  cel(
    "!has(self.parallelism) || self.gpuCount == 0 || (has(self.parallelism.tensor) ? " +
      "self.parallelism.tensor * self.parallelism.pipeline * self.parallelism.data == self.gpuCount : " +
      "self.gpuCount % (self.parallelism.pipeline * self.parallelism.data) == 0)",
    "parallelism: tensor * pipeline * data must be gpuCount, the GPUs of a replica",
  ),
];

/** The flags of vLLM that follow from the field. */
export const PARALLEL_ARGS = [
  "--tensor-parallel-size",
  "--pipeline-parallel-size",
  "--data-parallel-size",
  "--enable-expert-parallel",
] as const;

interface Spec {
  readonly gpuCount: number;
  readonly parallelism?: Parallelism | undefined;
}

/** How the GPUs of a replica are used. */
export function gpuParts({ gpuCount, parallelism }: Spec) {
  const { pipeline = 1, data = 1, expert = false } = parallelism ?? {};
  const tensor = parallelism?.tensor ?? Math.max(1, Math.floor(gpuCount / (pipeline * data)));
  return { tensor, pipeline, data, expert };
}

/** vLLM's options by their names without dashes, as in a configuration file. Those that have vLLM's default are left out. */
export function parallelOptions(spec: Spec): Record<string, number | true> {
  const { tensor, pipeline, data, expert } = gpuParts(spec);
  return {
    "tensor-parallel-size": tensor,
    ...(pipeline > 1 && { "pipeline-parallel-size": pipeline }),
    ...(data > 1 && { "data-parallel-size": data }),
    ...(expert && { "enable-expert-parallel": true as const }),
  };
}

/** The same as arguments. */
export function parallelArgs(spec: Spec): string[] {
  return Object.entries(parallelOptions(spec)).flatMap(([name, value]) =>
    value === true ? [`--${name}`] : [`--${name}`, String(value)],
  );
}
