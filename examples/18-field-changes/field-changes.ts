// Deal with the change of a field, old value at hand: kept with the object, so that no restart loses it.
import { controller, defineKind, fieldChanges, permission, z } from "konverge";

export const Shop = defineKind({
  group: "examples.konverge.dev",
  kind: "Shop",
  versions: {
    v1: {
      spec: z.object({ version: z.int() }),
      status: z.object({ migrated: z.string().optional() }),
    },
  },
});

const version = fieldChanges(Shop, { name: "version", of: ({ spec }) => spec.version });

/** `migrate` may be called again for the same change, if the process ends before it is noted. */
export const shops = (migrate: (from: number, to: number) => Promise<void>) =>
  controller(Shop, {
    // The version is kept in an annotation of the shop.
    permissions: [permission(Shop, ["patch"])],
    async reconcile(shop, context) {
      await version.follow(shop, context, ({ old = 0, now = 0 }) => migrate(old, now));
      return { status: { migrated: String(shop.spec.version) } };
    },
  });
