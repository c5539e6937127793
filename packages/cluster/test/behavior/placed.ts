import { Node } from "@konverge/kinds";
import { labelsOf, type Stage } from "./stage.ts";

/** The prefix of annotations that choose how simulated nodes, and KWOK here, run a pod. */
const SIM = "sim.konverge.dev/";

/** How a pod behaves: `{ "run-duration": "1s", "exit-code": "1" }`. */
export type SimulatedBehavior = Readonly<Record<string, string>>;

/**
 * Creates nodes for this test only: pods of other tests do not tolerate their taint, and its own pods ({@link placed})
 * select them.
 */
export async function makeNodes(
  { client, namespace, until }: Stage,
  count: number,
  capacity: Record<string, string> = {},
  labels: (index: number) => Record<string, string> = () => ({}),
): Promise<string[]> {
  const names = Array.from({ length: count }, (_, index) => `${namespace}-${index}`);
  const all = { cpu: "4", memory: "8Gi", pods: "110", ...capacity };
  for (const [index, name] of names.entries()) {
    await client.create(Node, {
      metadata: { name, labels: { stage: namespace, "kubernetes.io/hostname": name, ...labels(index) } },
      spec: { taints: [{ key: "stage", value: namespace, effect: "NoSchedule" }] },
      status: { capacity: all, allocatable: all },
    });
  }
  await until("the nodes are ready", async () => {
    const nodes = await Promise.all(names.map((name) => client.get(Node, name)));
    return nodes.every(({ spec }) => spec?.taints?.length === 1);
  });
  return names;
}

/** A pod template that is scheduled to the nodes of this test. */
export function placed({ namespace }: Stage, { sim = {}, spec = {}, image = "web:1", requests = {} }: Placed = {}) {
  const annotations = Object.fromEntries(Object.entries(sim).map(([key, value]) => [`${SIM}${key}`, value]));
  return {
    metadata: { labels: { ...labelsOf }, annotations },
    spec: {
      containers: [{ name: "main", image, resources: { requests } }],
      nodeSelector: { stage: namespace },
      tolerations: [{ key: "stage", operator: "Exists" as const }],
      ...spec,
    },
  };
}

export interface Placed {
  sim?: SimulatedBehavior;
  spec?: object;
  image?: string;
  requests?: Record<string, string>;
}
