/**
 * Admission and conversion webhooks: {@link admissionWebhook} mutates and validates writes, {@link serveWebhooks} serves webhooks
 * over TLS, with their certificates, and registers them with the API server.
 */
export {
  AdmissionDeniedError,
  type AdmissionOperation,
  type AdmissionRequest,
  type AdmissionWebhook,
  type AdmissionWebhookOptions,
  admissionWebhook,
  builtInCertificates,
  type CertificateSource,
  certificateFiles,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  MissingWebhookConfigurationError,
  type ServeWebhooksOptions,
  serveWebhooks,
  type WebhookCertificates,
  WebhookRegistration,
  type WebhookRegistrationMode,
  type WebhookRegistrationOptions,
  type WebhookServer,
  Webhooks,
  type WebhooksOptions,
  type WebhookTarget,
} from "@konverge/runtime";
