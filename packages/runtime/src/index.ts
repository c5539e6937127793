/**
 * Controllers at work.
 *
 * A controller returns, for each object of a kind, the desired state: its children, its status, its conditions. Data
 * flows one way: a watch fills the cache, a change in the cache becomes a key in the queue, a worker takes the key,
 * asks the reconciler, and applies the desired state. The cache knows no queue, the queue knows no controller, a
 * reconciler reads the cache and returns the desired state.
 *
 * Where history matters, a reconciler asks or calls for it: whether something is due, how a field was before, which
 * steps are done. What goes on between reconciles is a daemon. Everything that happens passes by observers, of which
 * the recorder writes it down, to be put to other code later.
 *
 * Why pods do not run, and how that is reported, is the same for every operator: `problems/`. How many of them a
 * promise about latency takes is a separate entry point, `konverge/sizing`.
 *
 * What it promises: a key is worked on by at most one worker at a time; a reconcile never sees anything older than its
 * own last write; nothing is written when nothing changed; what fails is retried; what a reconciler throws affects no
 * one else.
 */
export {
  type Child,
  type ImmutableFieldPolicy,
  type ObservedChild,
  type OwnedKind,
  ownedKind,
  type PlannedChild,
  type PlannedChildOptions,
  plannedChild,
} from "./apply/child.ts";
export { isApplied } from "./apply/is-applied.ts";
export type { ChildrenOutcome, RefusedChild } from "./apply/outcome.ts";
export { Cache, type CacheOptions, type CacheViewOptions } from "./cache/cache.ts";
export type { CacheChange } from "./cache/change.ts";
export type { IndexFunction } from "./cache/indexes.ts";
export type { Informer } from "./cache/informer.ts";
export type { Interest } from "./cache/projection.ts";
export type { WatchScope } from "./cache/selection.ts";
export type { CacheView } from "./cache/view.ts";
export { controllerPermissions, type PermissionOptions } from "./controller/declared-access.ts";
export { isPaused, PAUSED_ANNOTATION, RECONCILE_NOW_ANNOTATION } from "./controller/wishes.ts";
export { controller } from "./definition/controller.ts";
export type { Daemon, DaemonContext } from "./definition/daemon.ts";
export * from "./definition/definition.ts";
export { dynamicController } from "./definition/dynamic.ts";
export * from "./definition/predicates.ts";
export type { Recurrence } from "./definition/rhythm.ts";
export * from "./definition/watched.ts";
export { FolderWatch, type FolderWatchOptions } from "./development/folder-watch.ts";
export { type HotReload, type HotReloadOptions, hotReload } from "./development/hot-reload.ts";
export { loadErrorText } from "./development/load-error.ts";
export * from "./errors.ts";
export type { EventOptions, EventSink } from "./events/event-sink.ts";
export { EventRecorder, type EventRecorderOptions } from "./events/recorder.ts";
export * from "./external/external.ts";
export * from "./external/rotated-password.ts";
export { differing, type JsonDifference } from "./json-diff.ts";
export type { LeaderElectionOptions } from "./leadership/leader.ts";
export type { ShardingOptions } from "./leadership/shards.ts";
export { type Log, silentLog } from "./log.ts";
export { HOME_CLUSTER_NAME } from "./manager/check-options.ts";
export { Manager, run } from "./manager/manager.ts";
export type { ManagerOptions } from "./manager/options.ts";
export { type HttpEndpointsOptions, httpEndpoints } from "./observability/endpoints.ts";
export { Metrics, type MetricsOptions } from "./observability/metrics.ts";
export {
  LOG_LEVELS,
  type LogLevel,
  type ProcessLog,
  type ProcessLogOptions,
  processLog,
} from "./observability/process-log.ts";
export { reportProcessProblems } from "./observability/process-problems.ts";
export { reconcileLog } from "./observability/reconcile-log.ts";
export { type HttpServer, type ServeHttpOptions, serveHttp } from "./observability/serve.ts";
export { tracing } from "./observability/tracing.ts";
export * from "./observe/observer.ts";
export { currentReconcile } from "./observe/reconciles-in-progress.ts";
export type { ControllerState, WatchState } from "./observe/state.ts";
export {
  type GrantedRule,
  type GuardOptions,
  grantsOnly,
  guardPolicy,
  guardsOf,
} from "./operator/guard.ts";
export * from "./operator/operator.ts";
export * from "./operator/operator-access.ts";
export { type ClaimSharing, claimSharing, sameNodeAffinity } from "./pods/claim-sharing.ts";
export { type DrainOptions, drainHook } from "./pods/drain-hook.ts";
export {
  type GpuVendor,
  gpuProductAffinity,
  gpuProductsFor,
  gpuProductsIn,
  gpuProductsOf,
  isGpuOfType,
  watchGpuNodes,
} from "./pods/gpu-products.ts";
export { type PodSecurityOptions, restrictedPodSpec } from "./pods/pod-security.ts";
export {
  mergePodTemplate,
  type PodTemplateField,
  type PodTemplateOptions,
  type PodTemplateOverlay,
  podTemplate,
  podTemplateErrors,
  podTemplateField,
} from "./pods/pod-template.ts";
export { type PodProblem, type PodProblemReason, podProblem } from "./problems/pod-problem.ts";
export type { WorkloadProblem } from "./problems/problem.ts";
export { failedCreateMessage, podCreationProblem, replicaFailureMessage } from "./problems/refusal.ts";
export { type ObservedPods, POD_PROBLEM_GRACE_MS, workloadProblem } from "./problems/replica-problem.ts";
export { problemConditions, reportProblem } from "./problems/tell-problem.ts";
export {
  type FieldChange,
  type FieldChanges,
  type FieldChangesOptions,
  fieldChanges,
} from "./progress/field-changes.ts";
export * from "./progress/steps.ts";
export { type QueueAddOptions, type QueuePriority, WorkQueue, type WorkQueueOptions } from "./queue/work-queue.ts";
export {
  type Permission,
  type PermissionDeclaration,
  type PermissionVerb,
  permission,
  permissionText,
  policyRules,
} from "./rbac/access.ts";
export { comparePermissions, type PermissionDifference, PermissionRecorder, usedPermissions } from "./rbac/observed.ts";
export { checkPermissions, MissingPermissionError } from "./rbac/preflight.ts";
export { type RbacObject, type RoleOptions, rolesFor } from "./rbac/roles.ts";
export {
  type ReconcileIntent,
  type ReplayDifference,
  recordedReconcileText,
  replayDifferenceText,
} from "./recording/differences.ts";
export { readRecording } from "./recording/read-recording.ts";
export type { RecordedWrite } from "./recording/recorded-world.ts";
export { ReconcileRecorder, type ReconcileRecorderOptions } from "./recording/recorder.ts";
export type {
  RecordedAnswer,
  RecordedCall,
  RecordedChild,
  RecordedError,
  RecordedKind,
  RecordedQuery,
  RecordedReconcile,
  RecordedResult,
  RecordedStep,
} from "./recording/recording.ts";
export type { RedactedFields } from "./recording/redaction.ts";
export { type ReplayedReconcile, replayRecording } from "./recording/replay.ts";
export { type RequestTarget, targetOf } from "./request-target.ts";
export * from "./takeover/adopt.ts";
export * from "./takeover/take-over.ts";
export * from "./webhooks/admission.ts";
export {
  builtInCertificates,
  type CertificateSource,
  certificateFiles,
  type WebhookCertificates,
} from "./webhooks/certificates/source.ts";
export {
  MissingWebhookConfigurationError,
  WebhookRegistration,
  type WebhookRegistrationOptions,
} from "./webhooks/registration.ts";
export type { ConvertibleKind } from "./webhooks/review-conversion.ts";
export {
  type ServeWebhooksOptions,
  serveWebhooks,
  type WebhookPermissionOptions,
  type WebhookRegistrationMode,
  type WebhookServer,
  webhookPermissions,
} from "./webhooks/serve-webhooks.ts";
export { Webhooks, type WebhooksOptions, type WebhookTarget } from "./webhooks/webhooks.ts";
