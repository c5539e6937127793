/**
 * Random clients on a server that comes to harm.
 *
 * {@link soak} runs the embedded API server in a process of its own, on its SQLite journal. Owners write objects of their
 * own, contenders count in objects they share, watchers list, watch and resume. Meanwhile connections are cut in the middle
 * and the server is killed (SIGKILL) and started again. Everybody notes what they were told; {@link verify} then holds it
 * all together: no acknowledged write is lost, no event is lost, told twice or out of order, and a client that is told to
 * list again finds the state that was acknowledged.
 *
 * A seed fixes what clients choose to do, and the harm; the moments at which things happen are the machine's.
 */
export { Ledger, type Seen, type Write } from "./ledger.ts";
export { type SoakOptions, type SoakResult, soak } from "./soak.ts";
export { type Check, type FinalState, type Told, verify } from "./verify.ts";
export type { Segment, WatchEvent } from "./watcher.ts";
