import { keyOf, type ReconcileContext } from "konverge";
import { Pod } from "konverge/kinds";
import { type FetchMetrics, metricsUrl, scrapeMetrics } from "konverge/sizing";
import { CHEAP, DELETION_COST, DRAINED_SINCE, drainPlan } from "./drain-plan.ts";
import { inFlight } from "./in-flight.ts";
import { SERVING } from "./names.ts";

/** Milliseconds between two looks at pods that drain. */
export const DRAIN_PERIOD = 5_000;
/** Milliseconds in which proxies everywhere learn that a pod is no longer to be asked. */
const PROPAGATION = 5_000;

/** How pods are drained. */
export interface DrainRules {
  readonly fetchMetrics: FetchMetrics;
  /** Milliseconds after which a pod goes, whatever it is still at. */
  readonly timeout: number;
}

/** How far a scale-down is. */
export interface Drain {
  /** The number of replicas for now: the current number while some of them drain. */
  readonly replicas: number;
  readonly draining: number;
}

/** The pods of a component, and their current and desired number. */
export interface Component {
  readonly pods: readonly Pod[];
  readonly port: number | undefined;
  readonly current: number | undefined;
  readonly wanted: number;
}

/**
 * Takes pods out of the routing before they are scaled away, and waits until they have answered what they were asked.
 *
 * Flow: the pods that are to go lose the label by which the Service finds them and become the cheapest to delete; when
 * their metrics tell of no more requests, or their time is up, fewer replicas are asked for, and Kubernetes deletes
 * exactly these. All of it is written on the pods, so that it goes on after a crash; a pod that should stay after all
 * gets its label back.
 *
 * Caveat: pods that tell no metrics drain for the whole time.
 */
export async function drained(component: Component, rules: DrainRules, context: ReconcileContext): Promise<Drain> {
  const { pods, port, current, wanted } = component;
  const { clock, events } = context;
  const plan = drainPlan(pods, Math.max(wanted, 0));
  for (const pod of plan.unmark) await mark(pod, undefined, context);
  if (current === undefined || wanted >= current || port === undefined) return { replicas: wanted, draining: 0 };
  for (const pod of plan.mark) await mark(pod, clock.now(), context);
  if (plan.mark.length > 0) {
    const names = plan.mark.map(({ metadata }) => metadata.name).join(", ");
    events.normal("Draining", `${names} are drained, since ${wanted} of ${current} replicas are requested`);
    return { replicas: current, draining: plan.mark.length + plan.draining.length };
  }
  const busy = await Promise.all(plan.draining.map((pod) => isBusy(pod, port, rules, context)));
  const draining = busy.filter(Boolean).length;
  return { replicas: draining > 0 ? current : wanted, draining };
}

async function isBusy(
  pod: Pod,
  port: number,
  { fetchMetrics, timeout }: DrainRules,
  { clock }: ReconcileContext,
): Promise<boolean> {
  const since = Date.parse(pod.metadata.annotations?.[DRAINED_SINCE] ?? "");
  const passed = Number.isNaN(since) ? 0 : clock.now() - since;
  if (passed >= timeout) return false;
  if (passed < PROPAGATION) return true;
  const url = metricsUrl(pod, port);
  return inFlight(url && (await scrapeMetrics(fetchMetrics, url, clock))) !== 0;
}

async function mark(pod: Pod, since: number | undefined, { client }: ReconcileContext): Promise<void> {
  const goes = since !== undefined;
  const annotations = {
    [DRAINED_SINCE]: goes ? new Date(since).toISOString() : null,
    [DELETION_COST]: goes ? CHEAP : null,
  };
  const labels = { [SERVING]: goes ? "false" : "true" };
  const { uid } = pod.metadata;
  // Direct write: the pods belong to a ReplicaSet, and this annotation says which of them it deletes first.
  await client.patch(Pod, keyOf(pod), { merge: { metadata: { uid, labels, annotations } } });
}
