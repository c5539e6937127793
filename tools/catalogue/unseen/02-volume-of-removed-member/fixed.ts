import { PersistentVolumeClaim, Pod } from "@konverge/kinds";
import { reconciler } from "../../lib/reconciler.ts";
import { claim, ownedBy, setStatus, tolerant } from "../../lib/steps.ts";
import { member, shrunkAndGrown } from "./scenario.ts";

/** The volume of a member that was removed is deleted with it, before another member is created. */
export const scenario = shrunkAndGrown(
  reconciler({
    watches: [Pod, PersistentVolumeClaim],
    create: () => async (name, app, context) => {
      if (!app) return;
      const { client, namespace } = context;
      const { size } = app.spec;
      const labelSelector = `app=${name}`;
      const pods = (await client.list(Pod, { namespace, labelSelector })).items;
      const claims = (await client.list(PersistentVolumeClaim, { namespace, labelSelector })).items;
      const surplus = pods.filter(({ metadata }) => Number(metadata.name.split("-").at(-1)) >= size);
      for (const { metadata } of surplus) {
        await tolerant(client.delete(Pod, `${namespace}/${metadata.name}`));
      }
      const unused = claims.filter(({ metadata }) => Number(metadata.name.split("-").at(-1)) >= size);
      for (const { metadata } of unused) {
        await tolerant(client.delete(PersistentVolumeClaim, `${namespace}/${metadata.name}`));
      }
      // A terminating claim belongs to a removed member: its name is free once it is deleted.
      if ([...pods, ...claims].some(({ metadata }) => metadata.deletionTimestamp)) return;
      if (surplus.length > 0 || unused.length > 0) return;
      for (let i = 0; i < size; i++) {
        const own = `${name}-${i}`;
        if (!claims.some(({ metadata }) => metadata.name === own)) {
          await tolerant(client.create(PersistentVolumeClaim, claim(app, own, ownedBy(app))));
        }
        if (!pods.some(({ metadata }) => metadata.name === own)) {
          await tolerant(client.create(Pod, member(app, i) as Pod));
        }
      }
      const isReady = (one: Pod) =>
        one.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
      if (surplus.length === 0 && pods.length === size && pods.every(isReady)) {
        await setStatus(context, app, { phase: `${size} of ${size}` });
      }
    },
  }),
);
