import { sleep } from "@konverge/core";
import { ConfigMap } from "@konverge/kinds";
import { permission } from "@konverge/runtime";
import type { Program, Scenario } from "@konverge/testing";
import { App, app } from "../lib/app.ts";
import { reaches, removeApp, tolerant, untilDeleted } from "../lib/steps.ts";

export const FLUSH = "example.com/flush";

/** Holds what is deleted until it is flushed, which takes ten seconds. */
const flusher: Program = {
  name: "flusher",
  kinds: [],
  permissions: [permission(ConfigMap, ["list", "patch"])],
  async main({ client, clock }) {
    for (;;) {
      await sleep(clock, 5_000, { background: true });
      try {
        for (const { metadata } of (await client.list(ConfigMap, { labelSelector: "app" })).items) {
          const { deletionTimestamp, finalizers, namespace, name } = metadata;
          if (!deletionTimestamp || !finalizers || clock.now() - Date.parse(deletionTimestamp) < 10_000) continue;
          const isSame = { op: "test", path: "/metadata/uid", value: metadata.uid } as const;
          const release = [isSame, { op: "remove", path: "/metadata/finalizers" } as const];
          await tolerant(client.patch(ConfigMap, `${namespace}/${name}`, { json: release }));
        }
      } catch {
        // The next round tries again.
      }
    }
  },
};

/** An App is deleted, and when its data is flushed, created again. */
export const restart =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.start(flusher);
    await environment.apply(app("a"));
    await reaches(environment, "a", "Ready");
    await removeApp(environment, "a");
    await untilDeleted(environment, App, "a");
    await untilDeleted(environment, ConfigMap, "a");
    await environment.apply(app("a"));
    await reaches(environment, "a", "Ready");
  };
