import type { Lifecycle } from "@konverge/kinds";

/** Seconds in which proxies everywhere learn that a pod is no longer to be asked; without metrics, the whole wait. */
const PROPAGATION = 5;
const WITHOUT_METRICS = 15;
/** Seconds of the grace that are left to the program to end by itself. */
const TO_END = 10;

/** How a pod is drained before it ends. */
export interface DrainOptions {
  /** The pod's `terminationGracePeriodSeconds`. */
  readonly graceSeconds: number;
  /** Where the container answers at /metrics. */
  readonly port: number;
  /** The series whose sum is the number of requests that it works on or holds back. */
  readonly series: readonly string[];
}

/**
 * A `preStop` hook that holds a program back from ending until its own metrics show no more requests, or the grace is
 * nearly over. Kubernetes itself takes an ending pod out of its Services.
 *
 * It needs `python3` in the image; without it, or without metrics, the pod waits for 15 seconds.
 */
export function drainHook({ graceSeconds, port, series }: DrainOptions): Lifecycle {
  const patience = Math.max(0, graceSeconds - PROPAGATION - TO_END);
  const program = [
    "import re,sys,time,urllib.request",
    `end=time.monotonic()+${patience}`,
    "while time.monotonic()<end:",
    `  text=urllib.request.urlopen('http://127.0.0.1:${port}/metrics',timeout=3).read().decode()`,
    `  told=re.findall(r'^(?:${series.join("|")})(?:\\{.*\\})?\\s+(\\S+)',text,re.M)`,
    "  if not told: sys.exit(1)",
    "  if sum(map(float,told))==0: break",
    "  time.sleep(1)",
  ].join("\n");
  const rest = Math.max(0, Math.min(WITHOUT_METRICS, graceSeconds) - PROPAGATION);
  const script = `sleep ${PROPAGATION}; python3 -c "$0" || sleep ${rest}`;
  return { preStop: { exec: { command: ["/bin/sh", "-c", script, program] } } };
}
