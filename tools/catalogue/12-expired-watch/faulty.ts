import { isNotFound, sleep } from "@konverge/core";
import { permission } from "@konverge/runtime";
import type { Program } from "@konverge/testing";
import { App } from "../lib/app.ts";
import { rawList, rawWatch } from "../lib/informer.ts";
import { oneByOne } from "./scenario.ts";

// 410 Gone is ignored like other unknown events; the watch is reopened with the same old version forever (dotnet-operator-sdk#724).
const program: Program = {
  name: "app-operator",
  kinds: [App],
  permissions: [permission(App, ["list", "watch"]), permission(App, ["patch"], { subresource: "status" })],
  async main({ transport, client, clock }) {
    const handle = async ({ metadata: { namespace, name }, status }: App) => {
      if (status?.phase === "Ready") return;
      const key = `${namespace}/${name}`;
      for (let i = 0; ; i++) {
        try {
          await client.patchStatus(App, key, { merge: { status: { phase: "Ready" } } });
          return;
        } catch (error) {
          if (isNotFound(error)) return;
          await sleep(clock, Math.min(1000 * 2 ** i, 60_000));
        }
      }
    };
    for (let version: string | undefined; ; ) {
      try {
        if (version === undefined) {
          const list = await rawList(transport, App, "");
          for (const item of list.items) await handle(item);
          version = list.resourceVersion;
        }
        for await (const { type, object } of rawWatch(transport, App, version)) {
          if (type === "ERROR") continue;
          version = object.metadata.resourceVersion ?? version;
          if (type === "ADDED" || type === "MODIFIED") await handle(object);
        }
      } catch {
        // The connection broke: the watch goes on from the last version.
      }
      await sleep(clock, 1000);
    }
  },
};

export const scenario = oneByOne(program);
