import { PersistentVolumeClaim } from "@konverge/kinds";
import { reconciler } from "../lib/reconciler.ts";
import { claim, ownedBy, setStatus, tolerant } from "../lib/steps.ts";
import { growth } from "./scenario.ts";

// Volumes are deleted by a size that may be older than they are (elastic/cloud-on-k8s#5274).
export const scenario = growth(
  reconciler({
    watches: [PersistentVolumeClaim],
    create: () => async (name, app, context) => {
      if (!app) return;
      const { client, namespace } = context;
      const { size } = app.spec;
      const { items } = await client.list(PersistentVolumeClaim, { namespace, labelSelector: `app=${name}` });
      for (let i = 0; i < size; i++) {
        const volume = `data-${name}-${i}`;
        if (items.some(({ metadata }) => metadata.name === volume)) continue;
        await tolerant(client.create(PersistentVolumeClaim, claim(app, volume, ownedBy(app))));
      }
      const surplus = items.filter(({ metadata }) => Number(metadata.name.split("-").at(-1)) >= size);
      for (const { metadata } of surplus) {
        await tolerant(client.delete(PersistentVolumeClaim, `${namespace}/${metadata.name}`));
      }
      await setStatus(context, app, { phase: `${size} of ${size}` });
    },
  }),
);
