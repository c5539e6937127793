import type { Client } from "@konverge/client";
import { isNotFound, type KindRef, type KubeObject } from "@konverge/core";
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from "@konverge/kinds";

/** Takes webhooks of a process that is gone out of everybody's way. */
export async function removeRegistrations(client: Client, name: string): Promise<void> {
  for (const kind of [MutatingWebhookConfiguration, ValidatingWebhookConfiguration] as KindRef<KubeObject>[]) {
    await client.delete(kind, name).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
}
