import type { Client } from "@konverge/client";
import { isNotFound, type KindRef, type KubeObject } from "@konverge/core";
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from "@konverge/kinds";
import { serveWebhooks, type Webhooks } from "@konverge/runtime";
import type { WebhookProcess } from "./test-backend.ts";

/** The conversion webhook URL of CRDs before their operator has registered its own. */
export const UNREACHABLE_WEBHOOK_URL = "https://127.0.0.1:1/convert";

/** Serves webhooks on a local port and registers them; returns a function that stops both. */
export async function serveWebhooksOnPort(
  { name, home, webhooks, client }: WebhookProcess,
  administrator: Client,
): Promise<(end?: { crashed: boolean }) => Promise<void>> {
  await installRegistrations(administrator, name, webhooks);
  const place = { host: "127.0.0.1", port: 0, url: "https://127.0.0.1:0", namespace: home };
  const serving = await serveWebhooks(webhooks, { client, name, registration: "update", ...place });
  return async ({ crashed } = { crashed: false }) => {
    await serving.close();
    if (!crashed) await removeRegistrations(administrator, name);
  };
}

/** Installs the configurations as an operator's manifests do: the operator itself may only update them. */
export async function installRegistrations(client: Client, name: string, webhooks: Webhooks): Promise<void> {
  const nowhere = { url: UNREACHABLE_WEBHOOK_URL.replace("/convert", "") };
  const configurations: [KindRef<KubeObject>, readonly object[]][] = [
    [MutatingWebhookConfiguration as KindRef<KubeObject>, webhooks.mutating(nowhere)],
    [ValidatingWebhookConfiguration as KindRef<KubeObject>, webhooks.validating(nowhere)],
  ];
  for (const [kind, entries] of configurations) {
    if (entries.length === 0) continue;
    type Named = { readonly name: string };
    const installed = await client.get(kind, name).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    const { webhooks: known = [] } = (installed ?? {}) as { webhooks?: readonly Named[] };
    const missing = (entries as readonly Named[]).filter((entry) => !known.some((one) => one.name === entry.name));
    if (missing.length === 0) continue;
    // Another version of the operator was installed before, and may run: its webhooks stay.
    const merged = { metadata: { name }, webhooks: [...known, ...missing] };
    await (installed ? client.patch(kind, name, { merge: merged as never }) : client.create(kind, merged as never));
  }
}

/** Takes webhooks of a process that is gone out of everybody's way. */
export async function removeRegistrations(client: Client, name: string): Promise<void> {
  for (const kind of [MutatingWebhookConfiguration, ValidatingWebhookConfiguration] as KindRef<KubeObject>[]) {
    await client.delete(kind, name).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
}
