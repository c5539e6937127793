import { ApiError, parseJson, parseQuantity, Quantity } from "@konverge/core";
import type { Node, Pod } from "../codec/objects.ts";
import { podAmounts } from "../resources/strategies/pod-spec/resource-lists.ts";
import { type AdmissionPlugin, refusal } from "./attributes.ts";

/** A pod on a node cannot grow beyond it. */
export const podResizeValidator: AdmissionPlugin = {
  name: "PodResizeValidator",
  handles: ({ operation, group, resource, subresource }) =>
    operation === "UPDATE" && group === "" && resource === "pods" && subresource === "resize",
  validate(attributes) {
    const [pod, old] = [attributes.object, attributes.old] as unknown as [Pod, Pod];
    const { nodeName } = pod.spec;
    if (!nodeName || pod.metadata.generation === old.metadata.generation) return;
    const entry = attributes.call.store.collection("/nodes").get(nodeName);
    if (!entry) throw refusal(attributes, `node ${JSON.stringify(nodeName)} not found`);
    const node = parseJson(entry.text) as Node;
    const system = node.metadata.labels?.["kubernetes.io/os"] ?? "linux";
    if (system !== "linux") {
      const why = `pod resize is only supported on linux nodes, node "${nodeName}" is "${system}"`;
      throw withCause(refusal(attributes, why), "UnsupportedPlatform");
    }
    const lacking = beyond(pod, node);
    if (lacking.length === 0) return;
    const why = `node didn't have enough allocatable resources: ${lacking.join("; ")}`;
    throw withCause(refusal(attributes, why), "NodeCapacity");
  },
};

function beyond(pod: Pod, { status }: Node): string[] {
  const requests = podAmounts(pod.spec, "requests");
  const [cpu, memory] = ["cpu", "memory"].map((name) => ({
    asked: requests.get(name) ?? Quantity.of(0),
    there: parseQuantity(String(status?.allocatable?.[name] ?? "0")),
  })) as [Amount, Amount];
  return [
    ...(cpu.asked.cmp(cpu.there) > 0
      ? [`cpu, requested: ${cpu.asked.milliValue()}, allocatable: ${cpu.there.milliValue()}`]
      : []),
    ...(memory.asked.cmp(memory.there) > 0
      ? [`memory, requested: ${memory.asked.value()}, allocatable: ${memory.there.value()}`]
      : []),
  ];
}

interface Amount {
  readonly asked: Quantity;
  readonly there: Quantity;
}

function withCause({ status }: ApiError, reason: string): ApiError {
  return new ApiError({ ...status, details: { ...status.details, causes: [{ reason }] } });
}
