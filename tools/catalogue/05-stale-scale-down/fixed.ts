import { PersistentVolumeClaim } from "@konverge/kinds";
import { App } from "../lib/app.ts";
import { reconciler } from "../lib/reconciler.ts";
import { claim, ownedBy, setStatus, tolerant } from "../lib/steps.ts";
import { growth } from "./scenario.ts";

/** A size from the cache never deletes a volume: the present one is asked for first. */
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
      if (surplus.length > 0) {
        const live = await client.get(App, `${namespace}/${name}`);
        if (live.metadata.generation !== app.metadata.generation || live.metadata.uid !== app.metadata.uid) return;
      }
      for (const { metadata } of surplus) {
        await tolerant(client.delete(PersistentVolumeClaim, `${namespace}/${metadata.name}`));
      }
      await setStatus(context, app, { phase: `${size} of ${size}` });
    },
  }),
);
