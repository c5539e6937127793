import type { Node } from "../codec/objects.ts";
import { type AdmissionPlugin, isAbout } from "./attributes.ts";

const NOT_READY = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };

/** Nothing is scheduled onto a new node before it has said that it is ready. */
export const taintNodesByCondition: AdmissionPlugin = {
  name: "TaintNodesByCondition",
  handles: (attributes) => attributes.operation === "CREATE" && isAbout(attributes, "/nodes"),
  mutate({ object }) {
    const node = object as unknown as Node;
    const taints = node.spec?.taints ?? [];
    if (taints.some(({ key, effect }) => key === NOT_READY.key && effect === NOT_READY.effect)) return;
    node.spec = { ...node.spec, taints: [...taints, NOT_READY] };
  },
};
