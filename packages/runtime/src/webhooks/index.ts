/**
 * Webhooks: what an operator has a say in before an object is stored, and how it is converted.
 *
 * {@link admission} describes a judgement as functions of an object; the conversion of a kind comes with its definition.
 * {@link Webhooks} puts them behind one function, which {@link serveWebhooks} serves over TLS and registers with the API
 * server, and which the embedded API server calls directly.
 */
// The helpers of the API server's own validation, under names that say what they describe.
export { forbidden as fieldForbidden, invalidValue as fieldInvalid, required as fieldRequired } from "@konverge/schema";
export * from "./admission.ts";
export type { CertificateRotationOptions } from "./certificates/rotation.ts";
export {
  builtInCertificates,
  type CertificateSource,
  certificateFiles,
  type WebhookCertificates,
} from "./certificates/source.ts";
export { WebhookRegistration, type WebhookRegistrationOptions } from "./registration.ts";
export type { ConvertibleKind } from "./review-conversion.ts";
export { type ServeWebhooksOptions, serveWebhooks, type WebhookServer, webhookPermissions } from "./serve-webhooks.ts";
export { Webhooks, type WebhooksOptions, type WebhookTarget } from "./webhooks.ts";
