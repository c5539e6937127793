/**
 * Controllers at work.
 *
 * A controller says, for each object of a kind, what shall be: its children, its status, its conditions. Data flows one
 * way: a watch fills the cache, a change in the cache becomes a key in the queue, a worker takes the key, asks the
 * reconciler, and applies what it wants. The cache knows no queue, the queue knows no controller, a reconciler reads the
 * cache and returns what it wants.
 *
 * What it promises: a key is worked on by at most one worker at a time; a reconcile never sees anything older than its own
 * last write; nothing is written when nothing changed; what fails is tried again; what a reconciler throws harms nobody
 * else.
 */
export type { Child } from "./apply/children.ts";
export { Cache } from "./cache/cache.ts";
export { type Change, Informer, type Scope } from "./cache/informer.ts";
export { type ConditionState, type Conditions, no, unknown, yes } from "./controller/conditions.ts";
export * from "./controller/definition.ts";
export * from "./controller/errors.ts";
export { type Log, silent } from "./log.ts";
export { Manager, type ManagerOptions, run } from "./manager/manager.ts";
export { type AddOptions, type Priority, type QueueOptions, WorkQueue } from "./queue/work-queue.ts";
