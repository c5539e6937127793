import type { AnyObject, Random } from "@konverge/core";
import { parseApiVersion } from "@konverge/core";
import { troublesAtWrite, troublesOf } from "./application-candidates.ts";
import { externalFaultsAt } from "./external-fault.ts";
import { type Fault, type FaultPoint, type FaultTarget, faultName, pointKey } from "./fault.ts";
import type { FaultFamily } from "./fault-family.ts";
import type { ExploredRun } from "./oracle.ts";
import type { TimelineEntry } from "./timeline.ts";

/** How long faults last, in milliseconds of the cluster's time. */
export interface FaultDurations {
  /** Shorter than a client's usual timeout, longer than anything that is done at once. */
  readonly slow: number;
  readonly stale: number;
  readonly interrupted: number;
  /** Longer than the leases of leader election. */
  readonly pause: number;
  readonly webhook: number;
  /** Until what a quota or a webhook refuses is possible. */
  readonly refused: number;
  /** The longest time that a request is held for the user. */
  readonly held: number;
  /** Longer than a lease, and than most things that are due later. */
  readonly down: number;
  /** How long pods and Jobs are in trouble. */
  readonly trouble: number;
}

const VIRTUAL_TIME: FaultDurations = {
  slow: 20_000,
  stale: 30_000,
  interrupted: 60_000,
  pause: 60_000,
  webhook: 30_000,
  refused: 60_000,
  held: 10_000,
  down: 15 * 60_000,
  trouble: 60_000,
};
/** An annotation of another client. */
export const FOREIGN = "example.com~1foreign";
const CLOCK_JUMPS = [600_000, -600_000];

/** A fault to try, and what makes it equivalent to another: the same fault, request or event, and state. */
export interface FaultCandidate {
  readonly fault: Fault;
  readonly key: string;
}

/** A line of the timeline at which a fault can happen. */
type Moment = TimelineEntry & { readonly point: FaultPoint };

/** The faults that can happen in a run like this one, in the order of their points. */
export function faultCandidates(
  run: ExploredRun,
  families: readonly FaultFamily[],
  random: Random,
  ms: FaultDurations = VIRTUAL_TIME,
): FaultCandidate[] {
  const moments = run.timeline.filter((entry): entry is Moment => entry.point !== undefined);
  const has = (family: FaultFamily) => families.includes(family);
  const found: FaultCandidate[] = [];
  // The same request in the same state can come from different places in the operator: what it did before tells them apart.
  let before = "";
  const add = (moment: Moment, fault: Fault) => {
    const { point, state = "" } = moment;
    found.push({ fault, key: `${faultName(fault)}|${point.on} ${point.what}|${state}|${before}` });
  };
  for (const [i, moment] of moments.entries()) {
    const { point: at } = moment;
    before = moments[i - 1]?.what ?? "";
    if (moment.type === "wait" && at.on === "user") {
      if (has("user")) add(moment, { type: "impatient user", at });
      if (has("crash")) add(moment, { type: "downtime", at, ms: ms.down });
      continue;
    }
    if (at.on === "external") {
      if (has("external")) for (const fault of externalFaultsAt(at)) add(moment, fault);
      continue;
    }
    const isWrite = at.on === "request" && moment.type === "write";
    const isWatch = at.on === "request" && moment.type === "watch";
    const isOutside = at.on === "user" || at.on === "end";
    if (has("crash") && (isWrite || isOutside)) {
      add(moment, { type: "crash", at, when: "before" });
      if (isWrite) add(moment, { type: "crash", at, when: "after" });
      if (at.on === "user") add(moment, { type: "downtime", at, ms: ms.down });
    }
    if (has("application")) {
      const troubles = isOutside
        ? troublesOf(at, objectsAt(run, moment), ms.trouble)
        : troublesAtWrite(moment, run, ms.trouble);
      for (const fault of troubles) add(moment, fault);
    }
    if (has("error") && at.on === "request") {
      for (const fault of errorsAt(at, isWrite, random)) add(moment, fault);
    }
    if (has("slow") && at.on === "request" && moment.type !== "write") add(moment, { type: "slow", at, ms: ms.slow });
    if (has("stale") && (isWrite || isOutside || at.on === "event")) add(moment, { type: "stale", at, ms: ms.stale });
    if (has("watch") && (isWrite || at.on === "user" || at.on === "event")) {
      for (const expired of [false, true]) add(moment, { type: "missed events", at, ms: ms.interrupted, expired });
    }
    if (has("watch") && (isWatch || at.on === "event")) add(moment, { type: "watch expired", at });
    if (has("pause") && isWrite) add(moment, { type: "pause", at, ms: ms.pause });
    if (has("user") && (isWrite || at.on === "event")) add(moment, { type: "impatient user", at });
    if (has("user") && at.on === "request" && !isWatch && isUserWaiting(moments, i)) {
      add(moment, { type: "impatient user", at, holds: ms.held });
    }
    if (has("poor cluster") && isWrite) for (const fault of refusalsAt(at, ms.refused)) add(moment, fault);
    if (has("poor cluster") && moment.paged) add(moment, { type: "short page", at });
    if (has("writer") && isWrite) {
      const fault = annotationAt(run, at);
      if (fault) add(moment, fault);
    }
    if (has("cluster") && isOutside) {
      for (const ms of CLOCK_JUMPS) add(moment, { type: "clock jump", at, ms });
      for (const crd of crdsOf(run)) add(moment, { type: "crd update", at, crd });
      if (objectsAt(run, moment).some(({ kind }) => kind === "Pod")) add(moment, { type: "node lost", at });
    }
    const isWebhook = at.what.includes(".admissionregistration.k8s.io/");
    if (has("cluster") && isWrite && !isWebhook) add(moment, { type: "webhook down", at, ms: ms.webhook });
    if (has("writer") && isOutside) {
      for (const { fault, content } of deletionsAt(run, moment)) {
        found.push({ fault, key: `${faultName(fault)}|${at.on} ${at.what}|${moment.state ?? ""}|${content}` });
      }
    }
  }
  if (has("time travel")) for (const one of timeTravels(moments, ms.stale)) found.push(one);
  return found;
}

/** Whether the user waits for something, and writes later: only then can the user act earlier. */
function isUserWaiting(moments: readonly Moment[], i: number): boolean {
  const last = moments.slice(0, i).findLast(({ point }) => point.on === "user");
  return last?.type === "wait" && moments.slice(i).some(({ point, type }) => point.on === "user" && type === "write");
}

/** A quota counts new objects; a webhook can refuse every change, but about its own configuration and a status it is not asked. */
function refusalsAt(at: FaultPoint, ms: number): Fault[] {
  const [verb = "", path = ""] = at.what.split(" ");
  const isStatus = path.endsWith("/status");
  if (verb.startsWith("delete") || isStatus || path.includes(".admissionregistration.k8s.io/")) return [];
  const webhook: Fault = { type: "refused", at, by: "webhook", ms };
  return verb === "create" ? [{ type: "refused", at, by: "quota", ms }, webhook] : [webhook];
}

/** Another client annotates an object of the operator's own kinds, which the operator has read and is about to change. */
function annotationAt(run: ExploredRun, at: FaultPoint): Fault | undefined {
  const match = /^(?:update|patch|apply) ([^/.]+)\.([^/]+)\/([^/]+)$/.exec(at.what);
  const [, plural = "", group = "", name = ""] = match ?? [];
  if (!run.groups.includes(group)) return undefined;
  const change = run.changes.find((one) => one.resource === `${plural}.${group}` && one.name === name);
  if (!change) return undefined;
  const { version } = parseApiVersion(String(change.object.apiVersion));
  const target: FaultTarget = { group, version, plural, name };
  return { type: "edit", at, target, pointer: `/metadata/annotations/${FOREIGN}`, value: "yes", back: false };
}

/** Each write fails in every way; of each read that fails, one way is as good as another. */
function errorsAt(at: FaultPoint, isWrite: boolean, random: Random): Fault[] {
  const failures: Fault[] = [
    { type: "error", at, code: 500 },
    { type: "error", at, code: 429 },
    { type: "cut", at },
  ];
  if (!isWrite) return [random.pick(failures)];
  return [...failures, { type: "error", at, code: 409 }, { type: "lost response", at }];
}

/** From each moment outside the operator's work back to each earlier state. */
function timeTravels(moments: readonly Moment[], ms: number): FaultCandidate[] {
  const found: FaultCandidate[] = [];
  for (const [i, moment] of moments.entries()) {
    if (
      (moment.point.on !== "user" && moment.point.on !== "end") ||
      (moment.type === "wait" && moment.point.on === "user")
    )
      continue;
    const states = new Set([moment.state]);
    for (const earlier of moments.slice(0, i).reverse()) {
      if (states.has(earlier.state)) continue;
      states.add(earlier.state);
      const fault: Fault = { type: "time travel", at: moment.point, to: earlier.point, ms };
      found.push({ fault, key: `time travel|${pointKey(moment.point)}|${moment.state}|${earlier.state}` });
    }
  }
  return found;
}

/** The objects of the test namespace at a moment of a run. */
function objectsAt({ changes }: ExploredRun, { revision }: Moment): AnyObject[] {
  const objects = new Map<string, AnyObject>();
  for (const change of changes) {
    if (change.revision > revision) break;
    const key = `${change.resource} ${change.name}`;
    if (change.type === "deleted") objects.delete(key);
    else objects.set(key, change.object);
  }
  return [...objects.values()];
}

/**
 * Another client deletes an object; one of the operator's own kinds it creates again, unless that is a child, which is its owner's to
 * recreate: an object of another client under its name would block it.
 */
function deletionsAt(run: ExploredRun, moment: Moment): { fault: Fault; content: string }[] {
  const resources = new Map(run.changes.map((change) => [`${change.object.kind} ${change.name}`, change.resource]));
  return objectsAt(run, moment)
    .filter((object) => !OF_THE_NAMESPACE.has(`${object.kind} ${object.metadata.name}`))
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .filter((object) => !isDeletedLater(run, moment, object))
    .map((object) => {
      const { group, version } = parseApiVersion(String(object.apiVersion));
      const [plural = ""] = (resources.get(`${object.kind} ${object.metadata.name}`) ?? "").split(".");
      const target: FaultTarget = { group, version, plural, name: object.metadata.name };
      const isChild = object.metadata.ownerReferences?.some(({ controller }) => controller) ?? false;
      const recreate = isOfUser(run, object) || (run.groups.includes(group) && !isChild);
      return { fault: { type: "delete", at: moment.point, target, recreate }, content: object.kind };
    });
}

/** An object that is to be deleted anyway must not come back. */
function isDeletedLater({ changes }: ExploredRun, { revision }: Moment, { metadata }: AnyObject): boolean {
  return changes.some(({ object, type, ...change }) => {
    const isDeletion = type === "deleted" || object.metadata.deletionTimestamp !== undefined;
    return change.revision > revision && isDeletion && object.metadata.uid === metadata.uid;
  });
}

/** What the user created stays deleted unless the user creates it again. */
function isOfUser({ changes }: ExploredRun, { kind, metadata }: AnyObject): boolean {
  return changes.some(({ type, by, object, name }) => {
    return type === "created" && by === "user" && object.kind === kind && name === metadata.name;
  });
}

/** Every namespace has them. */
const OF_THE_NAMESPACE = new Set(["ConfigMap kube-root-ca.crt", "ServiceAccount default"]);

function crdsOf({ changes, groups }: ExploredRun): string[] {
  const resources = new Set(changes.map(({ resource }) => resource));
  return [...resources].filter((resource) => groups.some((group) => resource.endsWith(`.${group}`)));
}
