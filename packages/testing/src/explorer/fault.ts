import { type ApplicationFault, applicationFaultName } from "./application-fault.ts";
import { type ExternalFault, externalFaultName } from "./external-fault.ts";
import type { FaultPoint } from "./fault-point.ts";

export type { FaultPoint } from "./fault-point.ts";

/** An object as a fault names it. */
export interface FaultTarget {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly name: string;
}

/**
 * Something that goes wrong once, at one point of a run. Durations are milliseconds of the cluster's time.
 *
 * Only what the Kubernetes API permits is injected: a read without a resource version is never stale, events of one object
 * are never reordered, and an event is missed only by a client whose watch was interrupted.
 */
export type Fault =
  /** The operator's process is killed before it sends the request, or after the request took effect but before its response. */
  | { readonly type: "crash"; readonly at: FaultPoint; readonly when: "before" | "after" }
  /** The operator's process is killed, and the next one starts after a time. */
  | { readonly type: "downtime"; readonly at: FaultPoint; readonly ms: number }
  /** The API server rejects the request. */
  | { readonly type: "error"; readonly at: FaultPoint; readonly code: 409 | 429 | 500 }
  /** The connection is closed before the request arrives. */
  | { readonly type: "cut"; readonly at: FaultPoint }
  /** The request takes effect, but the response is lost. */
  | { readonly type: "lost response"; readonly at: FaultPoint }
  /** The response arrives late. */
  | { readonly type: "slow"; readonly at: FaultPoint; readonly ms: number }
  /**
   * Watch events arrive late, and reads that may be stale (`resourceVersion=0`) show the state at this point. `resource`
   * (`pods`): only those of one resource, since each has its own watch cache.
   */
  | { readonly type: "stale"; readonly at: FaultPoint; readonly ms: number; readonly resource?: string }
  /** The process restarts and reaches an API server that lags: it shows the state at an earlier point of the run. */
  | { readonly type: "time travel"; readonly at: FaultPoint; readonly to: FaultPoint; readonly ms: number }
  /** The operator is disconnected for a time and misses events; `expired`: the history is then gone (410). */
  | { readonly type: "missed events"; readonly at: FaultPoint; readonly ms: number; readonly expired: boolean }
  /** A watch ends with 410 Gone. */
  | { readonly type: "watch expired"; readonly at: FaultPoint }
  /** The process is paused longer than its lease while a write is in flight: another takes over, then the write arrives. */
  | { readonly type: "pause"; readonly at: FaultPoint; readonly ms: number }
  /**
   * The user does not wait for what the scenario waits for, and continues. `holds`: the operator's request arrives after what the user
   * does next, but no later than after this time.
   */
  | { readonly type: "impatient user"; readonly at: FaultPoint; readonly holds?: number }
  /** Writes of this resource are refused for a time: creates because a quota is exhausted, or changes by an admission webhook. */
  | { readonly type: "refused"; readonly at: FaultPoint; readonly by: "quota" | "webhook"; readonly ms: number }
  /** A list that is read in pages has a first page of one object. */
  | { readonly type: "short page"; readonly at: FaultPoint }
  /** Another client deletes an object; `recreate`: and creates it again under the same name, as soon as it is gone. */
  | { readonly type: "delete"; readonly at: FaultPoint; readonly target: FaultTarget; readonly recreate: boolean }
  /** Another client changes a field, and with `back` changes it back at once. */
  | {
      readonly type: "edit";
      readonly at: FaultPoint;
      readonly target: FaultTarget;
      readonly pointer: string;
      readonly value: unknown;
      readonly back: boolean;
    }
  /** Admission webhooks do not answer. */
  | { readonly type: "webhook down"; readonly at: FaultPoint; readonly ms: number }
  /** A CustomResourceDefinition is updated: its watches end. */
  | { readonly type: "crd update"; readonly at: FaultPoint; readonly crd: string }
  /** A node is lost with its pods. */
  | { readonly type: "node lost"; readonly at: FaultPoint }
  /** The wall clock of the operator's process jumps. */
  | { readonly type: "clock jump"; readonly at: FaultPoint; readonly ms: number }
  /** A call of an external system fails, or takes long. */
  | ExternalFault
  /** A pod or a Job is in trouble. */
  | ApplicationFault;

/** The types of {@link Fault}. */
export type FaultType = Fault["type"];

/** Whether two points are the same. */
export function isSamePoint(a: FaultPoint, b: FaultPoint): boolean {
  return a.on === b.on && a.what === b.what && a.nth === b.nth;
}

/** A point as one text, for maps and for replaying. */
export function pointKey({ on, what, nth }: FaultPoint): string {
  return `${on} ${what}#${nth}`;
}

/** A point in words: `at the 2nd create configmaps/web`. */
export function pointText({ on, what, nth }: FaultPoint): string {
  if (on === "end") return "when the cluster is idle at the end";
  const which = nth === 1 ? "" : ` (occurrence ${nth})`;
  if (on === "event") return `before the event ${what}${which}`;
  if (on === "user")
    return what.startsWith("wait ") ? `instead of the ${what}${which}` : `before the user's ${what}${which}`;
  return `at ${what}${which}`;
}

/** A fault in words, without its point. */
export function faultName(fault: Fault): string {
  switch (fault.type) {
    case "crash":
      return `crash ${fault.when} the request`;
    case "downtime":
      return `the operator is down for ${fault.ms / 60_000} min`;
    case "error":
      return `error ${fault.code}`;
    case "cut":
      return "connection cut before the request arrives";
    case "lost response":
      return "response lost after the request took effect";
    case "slow":
      return `response ${fault.ms / 1000} s late`;
    case "stale":
      return `stale cache${fault.resource === undefined ? "" : ` of ${fault.resource}`} for ${fault.ms / 1000} s`;
    case "time travel":
      return `restart on an API server that lags, showing the state ${pointText(fault.to)}`;
    case "missed events":
      return `disconnected for ${fault.ms / 1000} s${fault.expired ? ", then watches have expired (410)" : ""}`;
    case "watch expired":
      return "watch expired (410)";
    case "pause":
      return `pause of ${fault.ms / 1000} s, past the lease, with the write in flight`;
    case "impatient user":
      return fault.holds === undefined
        ? "the user does not wait"
        : "the user does not wait, and acts before the request arrives";
    case "refused":
      return fault.by === "quota"
        ? `the quota is exhausted for ${fault.ms / 1000} s (403)`
        : `a webhook refuses the change for ${fault.ms / 1000} s (422)`;
    case "short page":
      return "the first page of the list has one object";
    case "delete":
      return `another client deletes ${targetText(fault.target)}${fault.recreate ? " and recreates it" : ""}`;
    case "edit": {
      const done = fault.value === undefined ? "removes" : `sets to ${JSON.stringify(fault.value)}`;
      return `another client ${done} ${fault.pointer} of ${targetText(fault.target)}${fault.back ? " and reverts it" : ""}`;
    }
    case "webhook down":
      return `webhooks down for ${fault.ms / 1000} s`;
    case "crd update":
      return `CRD ${fault.crd} updated`;
    case "node lost":
      return "a node is lost";
    case "clock jump":
      return `clock jumps by ${fault.ms / 1000} s`;
    case "external call":
      return externalFaultName(fault);
    case "application":
      return applicationFaultName(fault);
  }
}

/** A fault in words: `crash after the request at create configmaps/web`. */
export function faultText(fault: Fault): string {
  return `${faultName(fault)}, ${pointText(fault.at)}`;
}

function targetText({ plural, name }: FaultTarget): string {
  return `${plural}/${name}`;
}
