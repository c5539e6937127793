import { startCluster } from "@konverge/dev";
import { Client } from "konverge/client";
import { VirtualClock } from "konverge/time";
import { WebhookRegistration, type Webhooks } from "konverge/webhooks";
import { play, type Scenario } from "./place.ts";

/** Virtual time after which a scenario has failed. */
const LONGEST = 10 * 60_000;

/** Plays a scenario on the embedded cluster, on virtual time: no port, no sleep. */
export async function onEmbedded(scenario: Scenario): Promise<void> {
  const clock = new VirtualClock();
  let hooks: Webhooks | undefined;
  const callWebhook = (target: object, review: object) => {
    if (!hooks) throw new Error("there are no webhooks");
    return hooks.call(target, review);
  };
  const cluster = await startCluster({ clock, server: { callWebhook } });
  const warnings: string[] = [];
  const client = new Client(cluster.server.transport, { clock, onWarning: (message) => void warnings.push(message) });
  const during = async <T>(promise: Promise<T>): Promise<T> => {
    let settled = false;
    const settle = () => {
      settled = true;
    };
    promise.then(settle, settle);
    while (!settled) await clock.step();
    return promise;
  };
  try {
    await play(scenario, "example", {
      client,
      warnings,
      during,
      async pause(since) {
        await clock.step();
        return clock.monotonic() - since < LONGEST;
      },
      async serve(webhooks, name) {
        hooks = webhooks;
        const registration = new WebhookRegistration({ client, name, webhooks, creates: true });
        await registration.set({ service: { name, namespace: "example" } });
        return () => during(registration.stop());
      },
    });
  } finally {
    await during(cluster.stop());
  }
}
