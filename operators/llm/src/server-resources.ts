import { quantity, z } from "konverge";
import type { ResourceRequirements } from "konverge/kinds";
import type { DeepReadonly } from "konverge/objects";
import type { PodTemplateOverlay } from "konverge/pods";
import { type Accelerator, acceleratorLimits } from "./accelerator.ts";

const quantities = () => z.record(z.string(), quantity());

/** The field `resources` of a spec. */
export const resourcesField = z
  .object({ requests: quantities().optional(), limits: quantities().optional() })
  .describe(
    "CPU, memory and local storage of each replica, beside its GPUs. Default requests: cpu 1, memory 4Gi, ephemeral-storage 2Gi; a model that is downloaded without cacheClaim needs room for its files in addition.",
  );
export type ServerResources = DeepReadonly<z.infer<typeof resourcesField>>;

/**
 * What an inference server takes at least, whatever its model: without requests its pod would be the first to be evicted from a
 * node that runs out of memory or disk.
 */
const LEAST = { cpu: "1", memory: "4Gi", "ephemeral-storage": "2Gi" } as const;

interface Spec {
  readonly gpuCount: number;
  readonly accelerator?: Accelerator | undefined;
  readonly resources?: ServerResources | undefined;
  readonly template?: PodTemplateOverlay | undefined;
}

/** The resources of the container with this name. */
export function resourcesOf(spec: Spec, container: string): ResourceRequirements {
  const { resources, template } = spec;
  const merged = template?.spec?.containers?.find(({ name }) => name === container)?.resources;
  const limited = { ...resources?.limits, ...merged?.limits };
  // Of what has only a limit, that is the request.
  const least = Object.entries(LEAST).filter(([name]) => limited[name] === undefined);
  const requests = { ...Object.fromEntries(least), ...texts(resources?.requests) };
  const limits = { ...texts(resources?.limits), ...acceleratorLimits(spec) };
  return {
    ...(Object.keys(requests).length > 0 && { requests }),
    ...(Object.keys(limits).length > 0 && { limits }),
  };
}

function texts(given: Readonly<Record<string, string | number>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]));
}
