import type { HorizontalPodAutoscaler, HPAScalingRules } from "@konverge/kinds";

/** What an autoscaler has recommended and done lately. */
export interface History {
  recommendations: { replicas: number; at: number }[];
  ups: { change: number; at: number }[];
  downs: { change: number; at: number }[];
}

/** The size after all limits, and why it differs from what was recommended. */
export interface Paced {
  replicas: number;
  stabilized?: "ScaleUpStabilized" | "ScaleDownStabilized";
  limit?: "ScaleUpLimit" | "ScaleDownLimit" | "TooManyReplicas" | "TooFewReplicas";
}

const DEFAULT_UP: HPAScalingRules = {
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [
    { type: "Pods", value: 4, periodSeconds: 15 },
    { type: "Percent", value: 100, periodSeconds: 15 },
  ],
};
const DEFAULT_DOWN: HPAScalingRules = {
  stabilizationWindowSeconds: 300,
  selectPolicy: "Max",
  policies: [{ type: "Percent", value: 100, periodSeconds: 15 }],
};

/** The rules of an autoscaler, with all defaults. */
export function rulesOf({ spec }: HorizontalPodAutoscaler): { up: HPAScalingRules; down: HPAScalingRules } {
  const { scaleUp = {}, scaleDown = {} } = spec?.behavior ?? {};
  return { up: { ...DEFAULT_UP, ...scaleUp }, down: { ...DEFAULT_DOWN, ...scaleDown } };
}

/** Slows a recommendation down to what the rules allow, and notes it in the history. */
export function pace(
  hpa: HorizontalPodAutoscaler,
  history: History,
  current: number,
  recommended: number,
  now: number,
): Paced {
  const { up, down } = rulesOf(hpa);
  const { minReplicas = 1, maxReplicas = 1 } = hpa.spec ?? {};
  const stable = stabilize(history, current, recommended, { up, down }, now);
  const stabilized =
    stable === recommended
      ? undefined
      : recommended > stable
        ? ("ScaleUpStabilized" as const)
        : ("ScaleDownStabilized" as const);
  const why = stabilized && { stabilized };
  if (stable > current) {
    const allowed = Math.max(upLimit(history, current, up, now), current);
    const most = Math.min(maxReplicas, allowed);
    if (stable > most)
      return { replicas: most, ...why, limit: maxReplicas > allowed ? "ScaleUpLimit" : "TooManyReplicas" };
    return { replicas: stable, ...why };
  }
  if (stable < current) {
    const allowed = Math.min(downLimit(history, current, down, now), current);
    const least = Math.max(minReplicas, allowed);
    if (stable < least)
      return { replicas: least, ...why, limit: minReplicas < allowed ? "ScaleDownLimit" : "TooFewReplicas" };
    return { replicas: stable, ...why };
  }
  if (stable > maxReplicas) return { replicas: maxReplicas, ...why, limit: "TooManyReplicas" };
  if (stable < minReplicas) return { replicas: minReplicas, ...why, limit: "TooFewReplicas" };
  return { replicas: stable, ...why };
}

function stabilize(
  history: History,
  current: number,
  recommended: number,
  { up, down }: { up: HPAScalingRules; down: HPAScalingRules },
  now: number,
): number {
  const upFrom = now - (up.stabilizationWindowSeconds ?? 0) * 1000;
  const downFrom = now - (down.stabilizationWindowSeconds ?? 300) * 1000;
  let [least, most] = [recommended, recommended];
  for (const { replicas, at } of history.recommendations) {
    if (at > upFrom) least = Math.min(least, replicas);
    if (at > downFrom) most = Math.max(most, replicas);
  }
  const oldest = Math.min(upFrom, downFrom);
  history.recommendations = history.recommendations.filter(({ at }) => at > oldest);
  history.recommendations.push({ replicas: recommended, at: now });
  return Math.min(Math.max(current, least), most);
}

const changed = (events: History["ups"], seconds: number, now: number): number =>
  events.reduce((sum, { change, at }) => (at > now - seconds * 1000 ? sum + change : sum), 0);

function upLimit(
  { ups, downs }: History,
  current: number,
  { selectPolicy, policies = [] }: HPAScalingRules,
  now: number,
): number {
  if (selectPolicy === "Disabled") return current;
  const limits = policies.map(({ type, value, periodSeconds }) => {
    const start = current - changed(ups, periodSeconds, now) + changed(downs, periodSeconds, now);
    return type === "Pods" ? start + value : Math.ceil(start * (1 + value / 100));
  });
  return selectPolicy === "Min" ? Math.min(...limits) : Math.max(...limits);
}

function downLimit(
  { ups, downs }: History,
  current: number,
  { selectPolicy, policies = [] }: HPAScalingRules,
  now: number,
): number {
  if (selectPolicy === "Disabled") return current;
  const limits = policies.map(({ type, value, periodSeconds }) => {
    const start = current + changed(downs, periodSeconds, now) - changed(ups, periodSeconds, now);
    return type === "Pods" ? start - value : Math.trunc(start * (1 - value / 100));
  });
  return selectPolicy === "Min" ? Math.max(...limits) : Math.min(...limits);
}

/** Notes that the size was changed. */
export function noteScaled(
  hpa: HorizontalPodAutoscaler,
  history: History,
  from: number,
  to: number,
  now: number,
): void {
  const { up, down } = rulesOf(hpa);
  const longest = Math.max(
    0,
    ...[...(up.policies ?? []), ...(down.policies ?? [])].map(({ periodSeconds }) => periodSeconds),
  );
  for (const events of [history.ups, history.downs]) {
    const kept = events.filter(({ at }) => at > now - longest * 1000);
    events.splice(0, events.length, ...kept);
  }
  if (to > from) history.ups.push({ change: to - from, at: now });
  else history.downs.push({ change: from - to, at: now });
}
