/**
 * The audit log: who asked for what, when, and how it ended, as lines of JSON in the form that Kubernetes' tools read
 * (`audit.k8s.io/v1` events). A policy says how much is written of which requests; bodies, and with them Secrets, only
 * appear where a rule asks for level Request or RequestResponse.
 */
export { AuditedRequest, AuditLog, type AuditLogOptions } from "./audit-log.ts";
export type { AuditEvent } from "./event.ts";
export {
  type AuditLevel,
  type AuditPolicy,
  type AuditRule,
  type AuditStage,
  METADATA_POLICY,
  parseAuditPolicy,
} from "./policy.ts";
