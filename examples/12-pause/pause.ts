// Pause the reconciles of an object: with an annotation, and without code in the controller.
import { controller, defineKind, z } from "konverge";
import { ConfigMap } from "konverge/kinds";

export const Poster = defineKind({
  group: "examples.konverge.dev",
  kind: "Poster",
  versions: { v1: { spec: z.object({ text: z.string() }) } },
});

export const posters = controller(Poster, {
  owns: [ConfigMap],
  reconcile: ({ metadata: { name }, spec: { text } }) => ({
    children: [ConfigMap.draft({ metadata: { name }, data: { text } })],
  }),
});
