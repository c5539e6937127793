import type { Pod } from "@konverge/kinds";
import type { ContainerLog } from "./container-log.ts";

/** Where a pod is. */
export interface Place {
  readonly hostIP: string;
  readonly podIP: string;
}

/** A run of an image that is a program. */
export interface Run {
  /** Asks it to stop. */
  stop(): void;
  kill(): void;
  /** The pod has changed, and not in its status alone: what its volumes show of it and of ConfigMaps is read again. */
  refreshVolumes?(pod: Pod): void;
}

/** What a container reads and writes. */
export interface ContainerStreams {
  readonly log: ContainerLog;
  readonly stdin: AsyncIterable<Uint8Array>;
}

/** Called once, when a run has ended: with its exit code, its termination message, and why it was killed. */
export type EndedRun = (exitCode: number, terminationMessage?: string, reason?: string) => void;
