import type { Pod, Toleration } from "../codec/objects.ts";
import { type AdmissionPlugin, isAbout } from "./attributes.ts";

const TAINTS = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

/** Pods stay for five minutes on a node that is not ready or not reachable, unless they say otherwise. */
export const defaultTolerationSeconds: AdmissionPlugin = {
  name: "DefaultTolerationSeconds",
  handles: (attributes) =>
    (attributes.operation === "CREATE" || attributes.operation === "UPDATE") && isAbout(attributes, "/pods"),
  mutate({ object }) {
    const { spec } = object as unknown as Pod;
    const tolerations = spec.tolerations ?? [];
    const missing = TAINTS.filter((taint) => !tolerations.some((toleration) => tolerates(toleration, taint)));
    if (missing.length === 0) return;
    const added = missing.map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 }));
    spec.tolerations = [...tolerations, ...added];
  },
};

function tolerates({ key = "", effect = "" }: Toleration, taint: string): boolean {
  return (key === taint || key === "") && (effect === "NoExecute" || effect === "");
}
