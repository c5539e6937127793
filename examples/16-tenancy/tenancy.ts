// Serve tenants without lending them the operator's permissions: children are written in the name of a service account that
// the object names, in its own namespace.
import { controller, defineKind, z } from "konverge";
import { ConfigMap } from "konverge/kinds";

export const Note = defineKind({
  group: "examples.konverge.dev",
  kind: "Note",
  versions: {
    v1: {
      spec: z.object({ serviceAccount: z.string(), text: z.string() }),
      status: z.object({ text: z.string().optional() }),
    },
  },
});

export const notes = controller(Note, {
  owns: [ConfigMap],
  impersonate: ({ metadata, spec }) => ({ user: `system:serviceaccount:${metadata.namespace}:${spec.serviceAccount}` }),
  reconcile: ({ metadata, spec }) => ({
    status: { text: spec.text },
    children: [ConfigMap.draft({ metadata: { name: metadata.name }, data: { text: spec.text } })],
  }),
});
