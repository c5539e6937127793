import { ApiError, parseJson, readText } from "@konverge/core";
import type { Node } from "@konverge/kinds";
import type { KubeletClient } from "../real-nodes/kubelet-client.ts";
import type { Usage } from "./usage.ts";

/** What a node and the containers of its pods use, as their kubelet measures it. */
export interface NodeUsage {
  readonly node: Node;
  readonly usage: Usage;
  readonly pods: readonly PodUsage[];
}

/** What the containers of a pod use. */
export interface PodUsage {
  readonly name: string;
  readonly namespace: string;
  readonly containers: readonly { readonly name: string; readonly usage: Usage }[];
}

/** A kubelet that does not answer by then is left out, in milliseconds. */
const PATIENCE = 5_000;

interface Measured {
  cpu?: { usageNanoCores?: number };
  memory?: { workingSetBytes?: number };
}

interface Summary {
  node?: Measured;
  pods?: { podRef: { name: string; namespace: string }; containers?: ({ name: string } & Measured)[] }[];
}

/** What all real nodes use. Those that cannot be asked are left out, as metrics-server does. */
export async function realUsage(client: KubeletClient): Promise<NodeUsage[]> {
  const answers = await Promise.allSettled(client.nodes().map((node) => usageOn(client, node)));
  return answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
}

async function usageOn(client: KubeletClient, node: Node): Promise<NodeUsage[]> {
  const path = "/stats/summary?only_cpu_and_memory=true";
  const request = { method: "GET", path, headers: {}, signal: AbortSignal.timeout(PATIENCE) };
  const response = await client.send(node, request, (why) => new ApiError({ code: 503, message: why }));
  if (response.status !== 200) return [];
  const summary = parseJson(await readText(response.body)) as Summary;
  const usage = usageOf(summary.node ?? {});
  if (!usage) return [];
  const pods = (summary.pods ?? []).map(({ podRef, containers = [] }) => ({
    ...podRef,
    containers: containers.flatMap(({ name, ...measured }) => {
      const used = usageOf(measured);
      return used ? [{ name, usage: used }] : [];
    }),
  }));
  return [{ node, usage, pods }];
}

/** Undefined for what has not been measured yet. */
function usageOf({ cpu, memory }: Measured): Usage | undefined {
  if (cpu?.usageNanoCores === undefined || memory?.workingSetBytes === undefined) return undefined;
  return { cpu: cpu.usageNanoCores / 1_000_000, memory: memory.workingSetBytes };
}
