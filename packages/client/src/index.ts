/**
 * The Kubernetes API as typed verbs.
 *
 * A {@link Client} turns verbs into requests for a `Transport` and its answers into objects or typed errors. The transport
 * decides who answers: a server behind a socket ({@link connect}), or the embedded server in the same process, without a
 * port. What sockets need is loaded when a socket is used, and not before.
 *
 * What it promises: a call settles by its deadline; it rejects with an ApiError (the server said no) or a
 * {@link TransportError} (no response, and whether the outcome of a write is unknown) and nothing else; a {@link Watch} never dies
 * silently and never loses a deletion.
 */
export type {
  AccessReviewQuery,
  AccessReviewResult,
  AccessReviewRules,
  ServiceAccountToken,
  ServiceAccountTokenOptions,
  TokenReviewResult,
} from "./access.ts";
export type { ClientRequest } from "./call.ts";
export * from "./client.ts";
export {
  ConfigError,
  type ConnectionConfig,
  type CredentialConfig,
  type ExecPlugin,
  type InlineOrFile,
  type OidcProvider,
} from "./config/connection-config.ts";
export { inClusterConfig } from "./config/in-cluster.ts";
export { type LoadConfigOptions, loadConfig } from "./config/load-config.ts";
export { type ConnectOptions, connect } from "./connect.ts";
export type { ApiResource, DiscoveredApis } from "./discovery/api-resource.ts";
export { type KindName, type RestMapper, UnknownKindError } from "./discovery/rest-mapper.ts";
export * from "./errors.ts";
export { type ImpersonatedUser, impersonatingTransport } from "./impersonation.ts";
export { type AppliedObject, type NewObject, type ObjectArguments, objectArguments } from "./new-object.ts";
export { ObjectVerbs } from "./object-verbs.ts";
export type {
  ApplyOptions,
  CallOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  ObjectSelection,
  WriteOptions,
} from "./options.ts";
export type { DeepPartial, JsonPatchOperation, Patch } from "./patch.ts";
export { RequestRateLimiter, type RequestRateLimitOptions } from "./rate-limit.ts";
export {
  isMetadataOnly,
  metadataOnly,
  type Table,
  type TableColumn,
  type TableOptions,
  type TableRow,
} from "./representation.ts";
export type { RetryOptions } from "./retry.ts";
export type { LogOptions } from "./streams/logs.ts";
export type { PodConnection, PortListener } from "./streams/port-connection.ts";
export type { PortForward } from "./streams/port-forward.ts";
export type { AttachOptions, RemoteProcess } from "./streams/remote-process.ts";
export * from "./watch/watch.ts";
