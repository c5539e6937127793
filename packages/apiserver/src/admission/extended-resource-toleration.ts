import { deepEqual } from "@konverge/core";
import type { Pod } from "../codec/objects.ts";
import { type AdmissionPlugin, isAbout } from "./attributes.ts";

/** Pods that ask for a device tolerate the taint of the nodes that are kept for it. Off unless asked for. */
export const extendedResourceToleration: AdmissionPlugin = {
  name: "ExtendedResourceToleration",
  handles: (attributes) =>
    (attributes.operation === "CREATE" || attributes.operation === "UPDATE") && isAbout(attributes, "/pods"),
  mutate({ object }) {
    const { spec } = object as unknown as Pod;
    const asked = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
      Object.keys(resources?.requests ?? {}).filter(isExtended),
    );
    for (const key of [...new Set(asked)].sort()) {
      const wanted = { key, operator: "Exists", effect: "NoSchedule" };
      const others = spec.tolerations ?? [];
      // One with the same key, operator, value and effect is replaced: it may say for how long.
      const at = others.findIndex(({ tolerationSeconds: _seconds, ...one }) => deepEqual(one, wanted));
      spec.tolerations = at < 0 ? [...others, wanted] : others.with(at, wanted);
    }
  },
};

function isExtended(name: string): boolean {
  return name.includes("/") && !name.includes("kubernetes.io/") && !name.startsWith("requests.");
}
