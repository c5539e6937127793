import { isNotFound, keyOf, sleep } from "@konverge/core";
import { PersistentVolumeClaim } from "@konverge/kinds";
import type { ProgramContext } from "@konverge/testing";
import { App } from "../lib/app.ts";
import { Informer } from "../lib/informer.ts";
import { reconciler } from "../lib/reconciler.ts";
import { claim, setStatus, tolerant } from "../lib/steps.ts";
import { update } from "./scenario.ts";

/** Nothing is decided before both caches have synced, and what an old cache says is checked before data is deleted. */
async function deleteOrphans({ transport, client, clock }: ProgramContext): Promise<void> {
  const apps = new Informer(transport, App, clock);
  const volumes = new Informer(transport, PersistentVolumeClaim, clock);
  await Promise.all([apps.start(), volumes.start()]);
  for (;;) {
    await sleep(clock, 5_000, { background: true });
    for (const { metadata } of volumes.objects.values()) {
      const { namespace = "", labels } = metadata;
      if (!labels?.["app"] || apps.objects.has(`${namespace}/${labels["app"]}`)) continue;
      const owner = await client.get(App, `${namespace}/${labels["app"]}`).catch((error: unknown) => error);
      if (!isNotFound(owner)) continue;
      await tolerant(client.delete(PersistentVolumeClaim, keyOf({ metadata })));
    }
  }
}

export const scenario = update(
  reconciler({
    watches: [PersistentVolumeClaim],
    also: deleteOrphans,
    create: () => async (name, app, context) => {
      if (!app) return;
      const { client, cached } = context;
      if (!cached(PersistentVolumeClaim).get(`data-${name}`)) {
        await tolerant(client.create(PersistentVolumeClaim, claim(app, `data-${name}`)));
      }
      await setStatus(context, app, { phase: "Ready" });
    },
  }),
);
