import type { WebhookClientConfig } from "@konverge/kinds";

/** A webhook that cannot even be called, because what its configuration says to trust cannot be read. */
export class WebhookClientError extends Error {
  override readonly name = "WebhookClientError";
}

/**
 * Sends a review to a webhook and returns its answer, parsed. It is injected, so that the server itself opens no
 * connections; it rejects with what went wrong.
 */
export type CallWebhook = (
  target: WebhookClientConfig,
  review: object,
  options: { timeoutMs: number },
) => Promise<unknown>;

/** Stands in where no webhooks can be reached. */
export const noWebhooks: CallWebhook = async () => {
  throw new Error("this server has been given no way to reach webhooks: pass callWebhook when it is made");
};
