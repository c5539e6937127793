// Serve tenants without lending them the operator's rights: children are written in the name of a service account that
// the object names, in its own namespace.
import { controller, defineKind, z } from "konverge";
import { ConfigMap } from "konverge/kinds";

export const Wish = defineKind({
  group: "examples.konverge.dev",
  kind: "Wish",
  versions: {
    v1: {
      spec: z.object({ serviceAccount: z.string(), text: z.string() }),
      status: z.object({ text: z.string().optional() }),
    },
  },
});

export const wishes = controller(Wish, {
  owns: [ConfigMap],
  impersonate: ({ metadata, spec }) => ({ user: `system:serviceaccount:${metadata.namespace}:${spec.serviceAccount}` }),
  reconcile: ({ metadata, spec }) => ({
    status: { text: spec.text },
    children: [ConfigMap.draft({ metadata: { name: metadata.name }, data: { text: spec.text } })],
  }),
});
