/**
 * The workload of this benchmark. Every program in this folder implements it, so that only the framework differs:
 *
 * - A Widget (`bench.konverge.dev/v1`, namespaced) has `spec.value`. It gets a ConfigMap of its name with `data.value` and a controller
 *   owner reference, and then a status: `value`, `child`, `observedGeneration`, and the conditions Ready, Progressing and Degraded, each with
 *   reason, message, `observedGeneration` and the time of its last change, as Konverge writes them by default.
 * - Ten workers. Requests are not limited by the client.
 * - Widgets and ConfigMaps of all namespaces are watched. A child that is deleted is recreated. A child or a status that is as
 *   desired is not written.
 * - With the arguments `cache N`, it only caches all ConfigMaps with their data, prints a line when all N are there, and waits.
 * - The cluster is the one of `KUBECONFIG`; SIGTERM ends the program.
 *
 * `limit` and `limit-ssa` send the same writes and do nothing else: they have no cache and leave out `cache N`, as kopf does.
 */
export interface Sizes {
  /** Widgets that exist when the operator starts. */
  readonly objects: number;
  /** Widgets created at a steady rate while it runs. */
  readonly more: number;
  /** Children that are deleted, to be recreated. */
  readonly children: number;
  /** Unrelated ConfigMaps in scope. */
  readonly foreign: number;
  /** ConfigMaps that are cached whole. */
  readonly cached: number;
}

export const FULL: Sizes = { objects: 2000, more: 1000, children: 500, foreign: 20_000, cached: 100_000 };
export const QUICK: Sizes = { objects: 300, more: 200, children: 100, foreign: 2000, cached: 5000 };

/** Widgets created per second in the steady phase. */
export const RATE = 100;

const mebibytes = (configMaps: number): string => ((configMaps * 2048) / 2 ** 20).toFixed(0);

export function describeWorkload({ objects, more, children, foreign, cached }: Sizes): string {
  return `A kind with a ConfigMap child and a status with three conditions; ten workers; a real etcd and kube-apiserver 1.36 on the same machine, fresh for
each operator and round. Konverge is the published bundle, with Node's compile cache filled in advance, as in the image
(\`ENV NODE_COMPILE_CACHE\`). \`limit\` and \`limit-ssa\` are no operators: they send the same writes over ten connections, without cache or
comparison, and so show what the API server allows.

Cold: ${objects} objects exist when the operator starts. Steady: ${more} more at ${RATE} a second, from the response to the creation until
the status is observed. Restart: with nothing to do, until the process is idle. Repair: ${children} children are deleted. Foreign: a start
with ${foreign} unrelated ConfigMaps of 2 KB (${mebibytes(foreign)} MiB) in scope. Cache: ${cached} ConfigMaps of 2 KB (${mebibytes(cached)} MiB), cached
whole.`;
}

/** How many objects exist at a cold start, from few to many. */
export const SCALE: readonly number[] = [100, 1000, 10_000, 100_000];

export function describeScale(counts: readonly number[]): string {
  return `The operator of [operator.md](operator.md) starts when ${counts.join(", ")} objects exist. Measured until the last one has its status
and child, in a fresh cluster for each start.`;
}
