import type { KubeObject } from "@konverge/core";

/** Additional fields of an event. */
export interface EventOptions {
  /** The action that was attempted, in one word. Default: `Reconcile`. */
  action?: string;
  /** A related object. */
  related?: KubeObject;
}

/** Emits Events about one object. It never throws and never waits: events are best effort. */
export interface EventSink {
  normal(reason: string, message: string, options?: EventOptions): void;
  warning(reason: string, message: string, options?: EventOptions): void;
}
