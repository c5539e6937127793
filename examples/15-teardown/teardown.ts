// Take things down in the reverse of the order in which they were put up.
import { controller, defineKind, plannedChild, z } from "konverge";
import { ConfigMap } from "konverge/kinds";

export const Tower = defineKind({
  group: "examples.konverge.dev",
  kind: "Tower",
  versions: { v1: { spec: z.object({ floors: z.int().min(0) }) } },
});

export const towers = controller(Tower, {
  owns: [ConfigMap],
  // Also when the tower itself is deleted: the garbage collector knows no order.
  teardown: "ordered",
  reconcile({ metadata, spec }) {
    const floors = Array.from({ length: spec.floors }, (_, i) =>
      ConfigMap.draft({ metadata: { name: `${metadata.name}-${i}` } }),
    );
    return { children: floors.map((floor, i) => plannedChild(floor, { after: floors.slice(Math.max(0, i - 1), i) })) };
  },
});
