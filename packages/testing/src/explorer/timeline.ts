import type { AnyObject } from "@konverge/core";
import type { Fault, FaultPoint } from "./fault.ts";

/** Who did something in a run: the operator's process, the scenario, any other client, or the explorer. */
export type Actor = "operator" | "user" | "cluster" | "explorer";

/** One line of a timeline. It names objects and versions, never their content: it may be shown to anyone. */
export interface TimelineEntry {
  /** Milliseconds since the start of the run. */
  readonly at: number;
  /** The newest resource version in the cluster at that moment. */
  readonly revision: number;
  readonly who: Actor;
  /**
   * `read`: a get or a list. `event`: a watch event that was delivered. `change`: an object changed, whoever wrote it.
   * `process`: the operator's process started or ended. `external`: a call of an external system.
   */
  readonly type: "read" | "watch" | "event" | "write" | "change" | "fault" | "process" | "wait" | "external";
  /** `create configmaps/web`, `MODIFIED widgets/w`. */
  readonly what: string;
  /** The response or outcome: `201`, `409 AlreadyExists`, `forbidden`. */
  readonly result?: string;
  /** The resource version that was read, written or delivered. */
  readonly version?: string;
  /** Only if a read or an event showed an older version: the version that the object had by then, or `deleted`. */
  readonly live?: string;
  /** Only for a list: it is read in pages. */
  readonly paged?: boolean;
  /** Where a fault can happen. */
  readonly point?: FaultPoint;
  /** The number of the operator's process, from 1. */
  readonly process?: number;
  /** Identifies the state of the cluster: equal for states with equal objects, versions and times aside. */
  readonly state?: string;
  /** Only for entries of type `fault`. */
  readonly fault?: Fault;
}

/** What happened in a run, in order. */
export type Timeline = readonly TimelineEntry[];

/** A change of one object, as the API server stored it. */
export interface ObjectChange {
  readonly revision: number;
  /** Milliseconds since the start of the run. */
  readonly at: number;
  /** `widgets.example.com`, `pods`. */
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly type: "created" | "updated" | "deleted";
  /** Who wrote it. */
  readonly by: Actor;
  readonly object: AnyObject;
  readonly previous: AnyObject | undefined;
}
