/** The components of test environments, to run scenarios on other clusters than the embedded one. */
export {
  bashShell,
  type EmbeddedTestBackend,
  embeddedTestBackend,
  endState,
  endStateDifferences,
  type FaultInjector,
  OperatorTestEnvironment,
  type Shell as TestShell,
  serveWebhooksOnPort,
  type TestBackend,
  UNREACHABLE_WEBHOOK_URL,
  type WebhookProcess,
} from "@konverge/testing";
