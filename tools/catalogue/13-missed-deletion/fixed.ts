import { type Clock, sleep, type Transport } from "@konverge/core";
import { ConfigMap } from "@konverge/kinds";
import { permission } from "@konverge/runtime";
import type { Program } from "@konverge/testing";
import { App } from "../lib/app.ts";
import { rawList, rawWatch } from "../lib/informer.ts";
import { inventory } from "./scenario.ts";

/** The list after a reconnect is complete: what is not in it was deleted. */
async function follow(transport: Transport, clock: Clock, apps: Map<string, App>): Promise<never> {
  for (;;) {
    try {
      const { items, resourceVersion } = await rawList(transport, App, "");
      apps.clear();
      for (const item of items) apps.set(item.metadata.name, item);
      for await (const { type, object } of rawWatch(transport, App, resourceVersion)) {
        if (type === "ERROR") break;
        if (type === "DELETED") apps.delete(object.metadata.name);
        else if (type !== "BOOKMARK") apps.set(object.metadata.name, object);
      }
    } catch {
      // Connected again in a moment.
    }
    await sleep(clock, 1000);
  }
}

const program: Program = {
  name: "app-operator",
  kinds: [App],
  permissions: [permission(App, ["list", "watch"]), permission(ConfigMap, ["get", "create", "patch"])],
  async main({ transport, client, clock }) {
    const apps = new Map<string, App>();
    void follow(transport, clock, apps);
    for (;;) {
      await sleep(clock, 5_000, { background: true });
      const namespace = [...apps.values()][0]?.metadata.namespace;
      if (!namespace) continue;
      const data = { apps: [...apps.keys()].sort().join(" ") };
      try {
        const found = await client.get(ConfigMap, `${namespace}/inventory`).catch(() => undefined);
        if (found?.data?.["apps"] === data.apps) continue;
        const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "inventory", namespace }, data };
        await client.apply(ConfigMap, object as never, { fieldManager: "app-operator", force: true });
      } catch {
        // Tried again with the next round.
      }
    }
  },
};

export const scenario = inventory(program);
