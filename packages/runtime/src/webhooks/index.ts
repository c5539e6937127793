/**
 * Webhooks: what an operator has a say in before an object is stored, and how it is converted.
 *
 * {@link admission} describes a judgement as functions of an object; the conversion of a kind comes with its definition.
 * {@link Webhooks} puts them behind one function, which {@link serveWebhooks} serves over TLS and registers with the API
 * server, and which the embedded API server calls directly.
 */
export * from "./admission.ts";
export {
  builtInCertificates,
  type CertificateSource,
  type CurrentCertificates,
  certificateFiles,
} from "./certificates/source.ts";
export { Registration, type RegistrationOptions } from "./registration.ts";
export type { ConvertibleKind } from "./review-conversion.ts";
export { type ServeWebhooksOptions, type ServingWebhooks, serveWebhooks, webhookAccess } from "./serve-webhooks.ts";
export { Webhooks, type WebhooksOptions, type WebhookTarget } from "./webhooks.ts";
