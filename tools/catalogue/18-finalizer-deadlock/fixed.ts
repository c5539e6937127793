import { isNotFound } from "@konverge/core";
import { ConfigMap } from "@konverge/kinds";
import { App } from "../lib/app.ts";
import { reconciler } from "../lib/reconciler.ts";
import { setStatus, tolerant } from "../lib/steps.ts";
import { teardown } from "./scenario.ts";

const FINALIZER = "example.com/registration";
/** It takes the broker this long to forget an App. */
const FORGET_MS = 5_000;

/** A deleted broker no longer knows the App. */
export const scenario = teardown(
  reconciler({
    permissions: [{ kind: ConfigMap, verbs: ["get"] }],
    create: () => async (name, app, context) => {
      if (!app) return;
      const { client, clock, namespace } = context;
      const key = `${namespace}/${name}`;
      const { deletionTimestamp, finalizers } = app.metadata;
      if (deletionTimestamp) {
        if (!finalizers) return;
        const isForgotten = clock.now() - Date.parse(deletionTimestamp) >= FORGET_MS;
        const broker = await client.get(ConfigMap, `${namespace}/broker`).catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
        });
        if (!isForgotten && broker) return FORGET_MS;
        await tolerant(client.patch(App, key, { json: [{ op: "remove", path: "/metadata/finalizers" }] }));
        return;
      }
      if (!finalizers) {
        await client.patch(App, key, { merge: { metadata: { finalizers: [FINALIZER] } } });
        return;
      }
      await setStatus(context, app, { phase: "Ready" });
    },
  }),
);
