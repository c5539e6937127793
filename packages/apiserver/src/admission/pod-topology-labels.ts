import type { Call } from "../call/call.ts";
import type { Pod } from "../codec/objects.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import type { AdmissionPlugin } from "./attributes.ts";

const TOPOLOGY = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

interface Binding extends WorkingObject {
  target: { kind?: string; name?: string };
}

/** Pods learn the zone and region of their node with their binding to it. */
export const podTopologyLabels: AdmissionPlugin = {
  name: "PodTopologyLabels",
  handles: ({ operation, group, resource, subresource }) =>
    operation === "CREATE" && group === "" && resource === "pods" && (subresource === "" || subresource === "binding"),
  mutate({ object, subresource, call }) {
    const { target } = object as Binding;
    const isToNode = subresource === "binding" && target.kind === "Node";
    const node = subresource === "" ? (object as unknown as Pod).spec.nodeName : isToNode ? target.name : undefined;
    const found = node ? topologyOf(call, node) : {};
    if (Object.keys(found).length > 0) object!.metadata.labels = { ...object!.metadata.labels, ...found };
  },
};

function topologyOf({ store }: Call, node: string): Record<string, string> {
  const { labels = {} } = store.collection("/nodes").get(node) ?? {};
  return Object.fromEntries(TOPOLOGY.filter((key) => labels[key] !== undefined).map((key) => [key, labels[key]!]));
}
