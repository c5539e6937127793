/**
 * The components of a {@link Manager}, for programs that are not controllers: cache and informers, work queue, event
 * recorder; and hot reload for development.
 */
export {
  Cache,
  type CacheOptions,
  type CacheView,
  type CacheViewOptions,
  EventRecorder,
  type EventRecorderOptions,
  type HotReload,
  type HotReloadOptions,
  hotReload,
  type Informer,
  type Interest,
  type QueueAddOptions,
  type QueuePriority,
  type WatchScope,
  WorkQueue,
  type WorkQueueOptions,
} from "@konverge/runtime";
