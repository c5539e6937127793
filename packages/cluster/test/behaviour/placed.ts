import { Node } from "@konverge/kinds";
import { labelsOf, type Stage } from "./stage.ts";

/** The prefix of annotations that tell simulated nodes, and KWOK here, how a pod fares. */
const SIM = "sim.konverge.dev/";

/** How a pod fares: `{ "run-duration": "1s", "exit-code": "1" }`. */
export type Fate = Readonly<Record<string, string>>;

/**
 * Makes nodes that are this stage's alone: the pods of others do not tolerate them, and its own ({@link placed}) go to no
 * others.
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

/** A pod template for the stage's own nodes. */
export function placed({ namespace }: Stage, { fate = {}, spec = {}, image = "web:1", requests = {} }: Placed = {}) {
  const annotations = Object.fromEntries(Object.entries(fate).map(([key, value]) => [`${SIM}${key}`, value]));
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
  fate?: Fate;
  spec?: object;
  image?: string;
  requests?: Record<string, string>;
}
