import type { Controller } from "../definition/definition.ts";
import type { LeaderElectionOptions } from "../leadership/leader.ts";
import type { ShardingOptions } from "../leadership/shards.ts";
import type { ManagerOptions } from "./options.ts";

/** The name of the cluster of `client` among the clusters of a manager. */
export const HOME_CLUSTER_NAME = "home";

/** Throws if a manager cannot work with these, and says what to give it instead. */
export function checkOptions(controllers: readonly Controller[], options: ManagerOptions): void {
  const {
    client,
    clusters = {},
    leaderElection,
    sharding,
    namespaces,
    namespaced,
    gracefulShutdownTimeout,
    syncTimeout,
  } = options ?? {};
  if (!client)
    throw new TypeError("a manager needs a `client`: the cluster to work in, such as `await connect()` returns");
  if (leaderElection && sharding) throw new TypeError("a manager has either `leaderElection` or `sharding`, not both");
  if (namespaced && !namespaces) throw new TypeError("`namespaced` needs `namespaces`: those of the manager's Roles");
  const clusterScoped = namespaced ? controllers.find(({ kind }) => !kind.namespaced) : undefined;
  if (clusterScoped)
    throw new TypeError(
      `the controller ${clusterScoped.name} reconciles ${clusterScoped.kind.kind}, which is cluster-scoped: omit \`namespaced\``,
    );
  if (namespaces?.length === 0) throw new TypeError("`namespaces` is empty: omit it for all namespaces");
  if (HOME_CLUSTER_NAME in clusters)
    throw new TypeError(`\`clusters\` has one called ${HOME_CLUSTER_NAME}, which is the name of \`client\`'s`);
  if (gracefulShutdownTimeout !== undefined && !(gracefulShutdownTimeout >= 0))
    throw new TypeError(`\`gracefulShutdownTimeout\` is ${gracefulShutdownTimeout}: it must be 0 or more`);
  if (syncTimeout !== undefined && !(syncTimeout > 0)) {
    throw new TypeError(`\`syncTimeout\` is ${syncTimeout}: it must be more than 0`);
  }
  if (leaderElection) checkLease("leaderElection", leaderElection);
  if (sharding) checkShards(sharding);
  checkControllers(controllers, [HOME_CLUSTER_NAME, ...Object.keys(clusters)]);
}

/** Leases are granted for whole seconds. */
function checkLease(
  what: "leaderElection" | "sharding",
  { name, duration = 1000 }: LeaderElectionOptions | ShardingOptions,
): void {
  if (!name) throw new TypeError(`\`${what}\` needs a \`name\`: that of the lease, the same for all replicas`);
  if (!(duration >= 1000) || duration % 1000 !== 0) {
    throw new TypeError(
      `\`${what}.duration\` is ${duration}: it must be a whole number of seconds in milliseconds, such as 15000`,
    );
  }
}

function checkShards(shards: ShardingOptions): void {
  checkLease("sharding", shards);
  const { parts = 1 } = shards;
  if (!Number.isInteger(parts) || parts < 1) {
    throw new TypeError(`\`sharding.parts\` is ${parts}: it must be a whole number, more than there will be replicas`);
  }
}

function checkControllers(controllers: readonly Controller[], clusters: readonly string[]): void {
  const names = new Set<string>();
  controllers.forEach((controller, i) => {
    if (!controller?.options?.reconcile)
      throw new TypeError(`controllers[${i}] is not a controller: create it with controller(…)`);
    const { name, options } = controller;
    if (names.has(name)) throw new TypeError(`two controllers are called ${name}: give one of them another \`name\``);
    names.add(name);
    for (const cluster of options.clusters ?? []) {
      if (clusters.includes(cluster)) continue;
      throw new TypeError(
        `controller ${name} uses the cluster ${cluster}, but the manager only has ${clusters.join(", ")}`,
      );
    }
  });
}
