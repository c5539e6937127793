/**
 * The Kubernetes API as typed verbs.
 *
 * A {@link Client} turns verbs into requests for a `Transport` and its answers into objects or typed errors. The transport
 * decides who answers: a server behind a socket ({@link connect}), or the embedded server in the same process, without a
 * port. What sockets need is loaded when a socket is used, and not before.
 *
 * What it promises: a call settles by its deadline; it rejects with an ApiError (the server said no) or a
 * {@link TransportError} (no answer, and whether a write is in doubt) and nothing else; a {@link Watch} never dies
 * silently and never loses a deletion.
 */
export type {
  AccessAnswer,
  AccessQuestion,
  AccessRules,
  IssuedToken,
  TokenOptions,
  TokenVerdict,
  UserInfo,
} from "./access.ts";
export type { Call } from "./call.ts";
export * from "./client.ts";
export {
  ConfigError,
  type ConnectionConfig,
  type CredentialConfig,
  type ExecPlugin,
  type Material,
  type OidcProvider,
} from "./config/connection-config.ts";
export { inClusterConfig } from "./config/in-cluster.ts";
export { type LoadOptions, loadConfig } from "./config/load-config.ts";
export { type ConnectOptions, connect } from "./connect.ts";
export type { ApiResource, ApiSurface } from "./discovery/api-resource.ts";
export { type KindName, type RestMapper, UnknownKindError } from "./discovery/rest-mapper.ts";
export * from "./errors.ts";
export { type Identity, impersonating } from "./impersonation.ts";
export type { AppliedObject, NewObject } from "./new-object.ts";
export type {
  ApplyOptions,
  CallOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  Selection,
  WriteOptions,
} from "./options.ts";
export type { DeepPartial, JsonPatchOperation, Patch } from "./patch.ts";
export { RateLimit, type RateLimitOptions } from "./rate-limit.ts";
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
