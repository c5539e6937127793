import { globSync } from "node:fs";
import { after, before, test } from "node:test";
import { findControlPlane, type RealCluster, startRealCluster } from "@konverge/real";
import { type Client, connect } from "konverge/client";
import { realClock, sleep } from "konverge/time";
import { serveWebhooks } from "konverge/webhooks";
import { play, type Scenario } from "./place.ts";

const plane = findControlPlane();
const clock = realClock();
/** Milliseconds after which waiting for something has failed. */
const LONGEST = 20_000;
const warnings: string[] = [];
let cluster: RealCluster;
let client: Client;

before(async () => {
  if (!plane.available) return;
  cluster = await startRealCluster({ controllers: true });
  client = await connect({ kubeconfig: cluster.kubeconfig, onWarning: (message) => void warnings.push(message) });
});
after(async () => {
  await client?.close();
  await cluster?.stop();
});

const folder = new URL("..", import.meta.url).pathname;
for (const path of globSync("[0-9]*/*.scenario.ts", { cwd: folder }).sort()) {
  const [name = ""] = path.split("/");
  test(name, { skip: plane.available ? false : plane.why, timeout: 60_000 }, async () => {
    const { scenario } = (await import(`../${path}`)) as { scenario: Scenario };
    await play(scenario, `example-${name}`, {
      client,
      warnings,
      during: (promise) => promise,
      async pause(since) {
        await sleep(clock, 50);
        return clock.monotonic() - since < LONGEST;
      },
      async serve(webhooks, hooks) {
        const place = { client, name: hooks, host: "127.0.0.1", port: 0, url: "https://127.0.0.1:0" };
        const serving = await serveWebhooks(webhooks, place);
        return () => serving.remove();
      },
    });
  });
}
