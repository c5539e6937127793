import { listMap, z } from "konverge";
import type { Pod } from "konverge/kinds";
import type { FileSupply } from "./file-supply.ts";
import { adapterSourceField, type FileSource, sourceUri } from "./model-source.ts";

/** The ranks that vLLM accepts. */
const RANKS = [1, 8, 16, 32, 64, 128, 256, 320, 512] as const;

/** The field `lora` of a spec. */
export const loraField = z.object({
  adapters: z
    .array(
      z.object({
        name: z
          .string()
          .min(1)
          .max(40)
          .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
          .describe("The name of the adapter in the API: the model of a request."),
        source: adapterSourceField.describe("Where the adapter's files come from."),
      }),
    )
    .min(1)
    .max(100)
    .check(listMap("name")),
  maxRank: z
    .literal([...RANKS])
    .optional()
    .describe("The highest rank of an adapter: --max-lora-rank. Default: vLLM's, 16."),
  maxLoras: z
    .int()
    .min(1)
    .max(100)
    .optional()
    .describe("Adapters that requests of one batch can use: --max-loras. Default: as many as there are, at most 8."),
  maxCpuLoras: z
    .int()
    .min(1)
    .max(1000)
    .optional()
    .describe("Adapters that are kept in memory: --max-cpu-loras. At least maxLoras. Default: vLLM's, maxLoras."),
});

/** What a spec says about adapters. */
export interface LoraSpec {
  readonly adapters: readonly { readonly name: string; readonly source: FileSource }[];
  readonly maxRank?: number | undefined;
  readonly maxLoras?: number | undefined;
  readonly maxCpuLoras?: number | undefined;
}

/** Each takes memory of the GPU, whether or not requests use it. */
const MOST_BY_DEFAULT = 8;

/** The flags of vLLM that follow from the field. */
export const LORA_ARGS = ["--enable-lora", "--lora-modules", "--max-loras", "--max-lora-rank", "--max-cpu-loras"];

/** How many adapters a batch can use. */
export function maxLorasOf({ maxLoras, adapters }: LoraSpec): number {
  return maxLoras ?? Math.min(adapters.length, MOST_BY_DEFAULT);
}

/** The server's arguments for its adapters, which are at these places. */
export function loraArgs(lora: LoraSpec, supplies: readonly FileSupply[]): string[] {
  const { adapters, maxRank, maxCpuLoras } = lora;
  return [
    "--enable-lora",
    // The flag takes all that follows up to the next one.
    "--lora-modules",
    ...adapters.map(({ name }, i) => moduleArg(name, supplies[i]!.location)),
    "--max-loras",
    String(maxLorasOf(lora)),
    ...(maxRank === undefined ? [] : ["--max-lora-rank", String(maxRank)]),
    ...(maxCpuLoras === undefined ? [] : ["--max-cpu-loras", String(maxCpuLoras)]),
  ];
}

function moduleArg(name: string, location: string): string {
  return `${name}=${location}`;
}

/** The status of an adapter. */
export const adapterStatus = z.object({
  name: z.string(),
  source: z.string().optional(),
  readyReplicas: z.int().describe("Ready replicas that serve it."),
});

/** An adapter as a server's argument, and how it is reported. */
export function adapterReport(
  { name, source }: LoraSpec["adapters"][number],
  { location }: FileSupply,
  serving: readonly Pod[],
): z.infer<typeof adapterStatus> {
  const uri = sourceUri(source);
  const loaded = serving.filter(({ spec }) =>
    spec?.containers.some(({ args }) => args?.includes(moduleArg(name, location))),
  );
  return { name, ...(uri && { source: uri }), readyReplicas: loaded.length };
}
