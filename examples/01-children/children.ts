// The first idea: return the children of an object. They are created, repaired, and pruned.
import { controller, defineKind, z } from "konverge";
import { ConfigMap } from "konverge/kinds";

export const Settings = defineKind({
  group: "examples.konverge.dev",
  kind: "Settings",
  plural: "settings",
  versions: { v1: { spec: z.object({ files: z.record(z.string(), z.string()).default({}) }) } },
});

export const settings = controller(Settings, {
  owns: [ConfigMap],
  reconcile: ({ metadata, spec }) => ({
    children: Object.entries(spec.files).map(([file, text]) =>
      ConfigMap.draft({ metadata: { name: `${metadata.name}-${file}` }, data: { text } }),
    ),
  }),
});
