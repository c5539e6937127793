import type { Client } from "@konverge/client";
import { type Clock, realClock } from "@konverge/core";
import { ClusterSource } from "./cluster-source.ts";
import { History } from "./history.ts";
import { OperatorLogs } from "./operator-logs.ts";
import type { Entry, ObjectSummary } from "./protocol.ts";

/** What is kept of a cluster: a few hours of a busy one. */
const LIMITS = { entries: 20_000, characters: 64 * 2 ** 20 };

/**
 * What a console knows of a cluster, without a page: its objects, and what happened to them since it was first asked. It sees what
 * the client's user can see, and no values of Secrets.
 */
export interface FollowedCluster {
  /** All objects, each with its state and why. */
  objects(): readonly ObjectSummary[];
  /** An object as it is. */
  object(id: string): object | undefined;
  /** What happened, the oldest first. */
  readonly entries: readonly Entry[];
  /** Kinds that the user cannot watch. */
  readonly hidden: readonly string[];
  stop(): void;
}

/** Follows a cluster. Resolves when all kinds that are served have been listed. */
export async function followCluster(client: Client, clock: Clock = realClock()): Promise<FollowedCluster> {
  const history = new History(LIMITS);
  const source = new ClusterSource(client, history, clock);
  const logs = new OperatorLogs(client, history, clock);
  const stop = () => {
    source.stop();
    logs.stop();
  };
  try {
    await source.start();
  } catch (error) {
    stop();
    throw error;
  }
  for (const summary of history.summaries()) logs.observe(summary);
  history.listener = {
    changed: (summary) => logs.observe(summary),
    removed: (id) => logs.removed(id),
    added: () => {},
  };
  return {
    objects: () => history.summaries(),
    object: (id) => history.object(id),
    get entries() {
      return history.entries;
    },
    get hidden() {
      return source.hidden;
    },
    stop,
  };
}
