/**
 * A Kubernetes API server in this process.
 *
 * {@link ApiServer} is a transport over a store: a request is read (http/), its resource found (resources/), the verb carried
 * out (verbs/) and the change committed (storage/), from where watchers see it. There is no port in it and no I/O; a
 * listener puts it behind TLS for clients of any language.
 *
 * It promises to behave as kube-apiserver does: wherever the two differ, it is wrong.
 */

export {
  Authority,
  type CertificateRequest,
  type Credential,
  certificateRequest,
  createAuthority,
} from "@konverge/certificates";
export type { Activity, OpenWatch, Underway } from "./activity.ts";
export type { AdmissionPluginOptions } from "./admission/plugins.ts";
export { isInQuotaScope } from "./admission/quota-scopes.ts";
export { isQuotaNameOf, quotaUsageOf } from "./admission/quota-usage.ts";
export type { AggregationOptions, CallExtension, ExtensionTarget, FrontProxy } from "./aggregation/extension-call.ts";
export { AuditLog, type AuditLogOptions } from "./audit/audit-log.ts";
export { type AuditPolicy, parseAuditPolicy } from "./audit/policy.ts";
export { AccessControl, type AccessControlOptions } from "./auth/access-control.ts";
export type { Peer, PeerCertificate } from "./auth/peer.ts";
export { parseTokenFile, type StaticToken } from "./auth/tokens/static-tokens.ts";
export type { User } from "./auth/user.ts";
export { type Answerer, type BodyReader, type Front, Guard, type GuardOptions } from "./guard.ts";
export { encodedPath, type RequestInfo, requestInfo, subpathOf } from "./http/request-info.ts";
export { type KubeconfigOptions, kubeconfigText } from "./listener/kubeconfig.ts";
export { type Listener, type ListenOptions, listen, type TlsOptions } from "./listener/listen.ts";
export { ConnectionReset } from "./listener/outgoing.ts";
export { SERVER_NAMES } from "./listener/server-names.ts";
export { ADMINISTRATOR, ApiServer, type ApiServerOptions } from "./server.ts";
export { stateOf } from "./state-of.ts";
export type { Collection } from "./storage/collection.ts";
export type { Entry, StoredChange } from "./storage/entry.ts";
export type { Journal, JournalRecord, Snapshot } from "./storage/journal.ts";
export { decodeSnapshot, encodeSnapshot, loadSnapshot, saveSnapshot } from "./storage/snapshot-file.ts";
export { SqliteJournal, type SqliteJournalOptions } from "./storage/sqlite-journal.ts";
export { type Durability, JournalError } from "./storage/sqlite-schema.ts";
export { type EntryContent, Store, type StoreHistory, type StoreOptions } from "./storage/store.ts";
export type { KubeletApi, KubeletRequest } from "./subresources/kubelet.ts";
export type { LogOptions } from "./subresources/kubelet-options.ts";
export { type CallWebhook, noWebhooks, WebhookClientError } from "./webhook-call.ts";
