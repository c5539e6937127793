/**
 * Controllers at work.
 *
 * A controller says, for each object of a kind, what shall be: its children, its status, its conditions. Data flows one
 * way: a watch fills the cache, a change in the cache becomes a key in the queue, a worker takes the key, asks the
 * reconciler, and applies what it wants. The cache knows no queue, the queue knows no controller, a reconciler reads the
 * cache and returns what it wants.
 *
 * Where history matters, a reconciler asks or calls for it: whether something is due, how a field was before, which steps
 * are done. What goes on between reconciles is a daemon. Everything that happens passes by observers, of which the recorder
 * writes it down, to be put to other code later.
 *
 * Why pods do not come to run, and how that is told, is the same for every operator: `problems/`. How many of them a promise
 * about latency takes is a door of its own, `konverge/sizing`.
 *
 * What it promises: a key is worked on by at most one worker at a time; a reconcile never sees anything older than its own
 * last write; nothing is written when nothing changed; what fails is tried again; what a reconciler throws harms nobody
 * else.
 */
export {
  type Child,
  type ExistingObject,
  type ImmutableFieldPolicy,
  type OwnedKind,
  ownedKind,
  type PlannedChild,
  type PlannedChildOptions,
  plannedChild,
} from "./apply/child.ts";
export { isApplied } from "./apply/is-applied.ts";
export { Cache, type CacheOptions, type CacheViewOptions } from "./cache/cache.ts";
export type { CacheChange, CacheChangeListener } from "./cache/change.ts";
export type { IndexFunction } from "./cache/indexes.ts";
export type { Informer, InformerOptions, WatchScope } from "./cache/informer.ts";
export type { Interest } from "./cache/projection.ts";
export type { CacheView } from "./cache/view.ts";
export type { Daemon, DaemonContext } from "./controller/daemons.ts";
export * from "./controller/definition.ts";
export type { Recurrence } from "./controller/due-times.ts";
export * from "./controller/errors.ts";
export * from "./controller/predicates.ts";
export * from "./controller/watched.ts";
export { isPaused, PAUSED_ANNOTATION, RECONCILE_NOW_ANNOTATION } from "./controller/wishes.ts";
export { type HotReload, type HotReloadOptions, hotReload } from "./development/hot-reload.ts";
export { type EventOptions, EventRecorder, type EventRecorderOptions, type EventSink } from "./events/recorder.ts";
export * from "./external/external.ts";
export { type Log, silentLog } from "./log.ts";
export { HOME_CLUSTER_NAME } from "./manager/check-options.ts";
export type { LeaderElectionOptions } from "./manager/leader.ts";
export { Manager, type ManagerOptions, run } from "./manager/manager.ts";
export type { ShardingOptions } from "./manager/shards.ts";
export type { ControllerState, WatchState } from "./manager/state.ts";
export * from "./observability/index.ts";
export * from "./observe/observer.ts";
export * from "./operator/operator.ts";
export * from "./operator/operator-access.ts";
export * from "./problems/index.ts";
export {
  type FieldChange,
  type FieldChanges,
  type FieldChangesOptions,
  fieldChanges,
} from "./progress/field-changes.ts";
export * from "./progress/steps.ts";
export type { ReconcileRateLimit } from "./queue/token-bucket.ts";
export {
  type BackoffLimits,
  type QueueAddOptions,
  type QueuePriority,
  WorkQueue,
  type WorkQueueOptions,
} from "./queue/work-queue.ts";
export * from "./rbac/index.ts";
export * from "./recording/index.ts";
export * from "./takeover/adopt.ts";
export * from "./takeover/take-over.ts";
export * from "./webhooks/index.ts";
export type { JsonDifference } from "./webhooks/json-diff.ts";
