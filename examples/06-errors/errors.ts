// Distinguish failures: transient ones, those that a user must fix, and external systems that are not there yet.
import { controller, defineKind, ExternalError, PermanentError, permission, z } from "konverge";
import { ConfigMap } from "konverge/kinds";

export const Errand = defineKind({
  group: "examples.konverge.dev",
  kind: "Errand",
  versions: {
    v1: {
      spec: z.object({ shop: z.string() }),
      status: z.object({ visits: z.int().optional() }),
    },
  },
});

export const errands = controller(Errand, {
  permissions: [permission(ConfigMap, ["list"])],
  async reconcile({ metadata, spec }, { client }) {
    // Only a change of the spec can help: reported, and not tried again until then.
    if (spec.shop === "") throw new PermanentError("NoShop", "spec.shop: say where to go");
    const shops = await client.list(ConfigMap, { namespace: metadata.namespace });
    const shop = shops.items.find(({ metadata: { name } }) => name === spec.shop);
    // Not our fault, and it may change: reported, and tried again after a while. Anything else that is thrown is tried
    // again after ever longer waits.
    if (!shop) throw new ExternalError("ShopClosed", `${spec.shop} is closed`, { requeueAfter: 1_000 });
    return { status: { visits: 1 } };
  },
});
