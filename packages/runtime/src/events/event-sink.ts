import type { KubeObject } from "@konverge/core";

/** What more can be said about an event. */
export interface EventOptions {
  /** What was done or tried, in one word. Default: `Reconcile`. */
  action?: string;
  /** Another object that has to do with it. */
  related?: KubeObject;
}

/** Tells users of one object what happened. Never throws and never waits: an event is a courtesy. */
export interface EventSink {
  normal(reason: string, message: string, options?: EventOptions): void;
  warning(reason: string, message: string, options?: EventOptions): void;
}
