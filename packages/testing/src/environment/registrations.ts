import type { Client } from "@konverge/client";
import { isNotFound, type KindRef, type KubeObject } from "@konverge/core";
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from "@konverge/kinds";
import { serveWebhooks } from "@konverge/runtime";
import type { WebhookProcess } from "./test-backend.ts";

/** The conversion webhook URL of CRDs before their operator has registered its own. */
export const UNREACHABLE_WEBHOOK_URL = "https://127.0.0.1:1/convert";

/** Serves webhooks on a local port and registers them; returns a function that stops both. */
export async function serveWebhooksOnPort(
  { name, home, webhooks, client }: WebhookProcess,
  administrator: Client,
): Promise<(end?: { crashed: boolean }) => Promise<void>> {
  const place = { host: "127.0.0.1", port: 0, url: "https://127.0.0.1:0", namespace: home };
  const serving = await serveWebhooks(webhooks, { client, name, ...place });
  return async ({ crashed } = { crashed: false }) => {
    await serving.close();
    if (!crashed) await removeRegistrations(administrator, name);
  };
}

/** Takes webhooks of a process that is gone out of everybody's way. */
export async function removeRegistrations(client: Client, name: string): Promise<void> {
  for (const kind of [MutatingWebhookConfiguration, ValidatingWebhookConfiguration] as KindRef<KubeObject>[]) {
    await client.delete(kind, name).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
}
