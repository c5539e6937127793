import { durationMs, own } from "@konverge/core";
import type { Container, Pod } from "@konverge/kinds";

/**
 * How a simulated container behaves. Set on a pod as annotations `sim.konverge.dev/KEY` for all its containers or
 * `sim.konverge.dev/CONTAINER.KEY` for one, or in code for an image.
 *
 * | key | meaning |
 * |---|---|
 * | `start-delay` | how long it takes to start: `2s` |
 * | `ready-delay` | how long after its start it becomes ready |
 * | `run-duration` | it exits after that |
 * | `exit-code` | with which code; without a run-duration it exits at once |
 * | `crash-after` | it exits with code 1 (or `exit-code`) after that, every time it is started |
 * | `oom-after` | it is killed for lack of memory after that |
 * | `termination-message` | its termination message |
 * | `fail-pull` | its image cannot be pulled: `true`, or what the registry says |
 * | `ready` | `false`: its readiness probe fails, for as long as this is set |
 * | `live` | `false`: its liveness probe fails |
 * | `stop-duration` | how long it takes to end after SIGTERM; `never` waits for the grace period |
 * | `evict-after` | the node evicts the pod after that |
 * | `logs` | lines it writes when it starts |
 * | `cpu`, `memory` | what it uses, as quantities |
 */
export interface ContainerBehavior {
  /** Milliseconds, like all durations here. */
  startDelay?: number;
  readyDelay?: number;
  /** Its readiness probe, if it has one, does not succeed earlier than this after its start. */
  warmUp?: number;
  /** How long a deleted pod is still there when its containers have ended: volumes are unmounted, networks removed. */
  tearDown?: number;
  runDuration?: number;
  exitCode?: number;
  crashAfter?: number;
  oomAfter?: number;
  terminationMessage?: string;
  /** What the registry says. */
  failPull?: string;
  ready?: boolean;
  live?: boolean;
  /** Infinite: it does not react at all. */
  stopDuration?: number;
  evictAfter?: number;
  logs?: string;
  /** Quantities. */
  cpu?: string;
  memory?: string;
}

/** What all annotations of simulated nodes and pods begin with. */
export const SIMULATION_ANNOTATION_PREFIX = "sim.konverge.dev/";

const DURATIONS: Readonly<Record<string, keyof ContainerBehavior>> = {
  "start-delay": "startDelay",
  "ready-delay": "readyDelay",
  "run-duration": "runDuration",
  "crash-after": "crashAfter",
  "oom-after": "oomAfter",
  "evict-after": "evictAfter",
  "stop-duration": "stopDuration",
};
const TEXTS: Readonly<Record<string, keyof ContainerBehavior>> = {
  "termination-message": "terminationMessage",
  "fail-pull": "failPull",
  logs: "logs",
  cpu: "cpu",
  memory: "memory",
};

/** How a container behaves by its pod's annotations, on top of what its image is known for. */
export function behaviorOf(
  pod: Pod,
  container: Pick<Container, "name">,
  known: ContainerBehavior = {},
): ContainerBehavior {
  const annotations = pod.metadata.annotations ?? {};
  let found: ContainerBehavior | undefined;
  const own = `${container.name}.`;
  for (const pass of ["all", "own"] as const) {
    for (const [name, value] of Object.entries(annotations)) {
      if (!name.startsWith(SIMULATION_ANNOTATION_PREFIX)) continue;
      let key = name.slice(SIMULATION_ANNOTATION_PREFIX.length);
      if (key.startsWith(own) !== (pass === "own")) continue;
      if (pass === "own") key = key.slice(own.length);
      found ??= { ...known };
      set(found, key, value);
    }
  }
  return found ?? known;
}

function set(behavior: ContainerBehavior, key: string, value: string): void {
  const duration = own(DURATIONS, key);
  const text = own(TEXTS, key);
  if (duration) Object.assign(behavior, { [duration]: milliseconds(value) });
  else if (text) Object.assign(behavior, { [text]: value });
  else if (key === "exit-code") behavior.exitCode = Number.parseInt(value, 10) || 0;
  else if (key === "ready" || key === "live") behavior[key] = value !== "false";
}

/** A duration that cannot be read counts as none: a pod cannot refuse its annotations. */
function milliseconds(text: string): number {
  if (text === "never") return Number.POSITIVE_INFINITY;
  try {
    return durationMs(text);
  } catch {
    return 0;
  }
}
