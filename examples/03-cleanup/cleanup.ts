// Take away what the garbage collector cannot: a cleanup, which brings its finalizer with it.
import { controller, defineKind, permission, z } from "konverge";
import { ConfigMap } from "konverge/kinds";

export const Guest = defineKind({
  group: "examples.konverge.dev",
  kind: "Guest",
  versions: { v1: { spec: z.object({}).default({}) } },
});

/** A guest can leave when its bill is paid: a ConfigMap that another client deletes. */
export const guests = controller(Guest, {
  permissions: [permission(ConfigMap, ["list"])],
  reconcile: () => undefined,
  async cleanup({ metadata }, { client }) {
    const bills = await client.list(ConfigMap, {
      namespace: metadata.namespace,
      labelSelector: `guest=${metadata.name}`,
    });
    return bills.items.length > 0
      ? { waitingFor: `${bills.items.length} unpaid bill`, requeueAfter: 1_000 }
      : undefined;
  },
});
