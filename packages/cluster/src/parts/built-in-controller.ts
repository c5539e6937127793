import type { KindRef, KubeObject } from "@konverge/core";
import { type Controller, type ControllerOptions, controller } from "@konverge/runtime";

/**
 * A controller that behaves like one of kube-controller-manager: it reports only the status and events that Kubernetes
 * defines, and retries failures with the same short backoff. A cluster counts as idle during these retries: what a quota
 * refuses, for example, is retried forever.
 */
export function builtInController<T extends KubeObject>(kind: KindRef<T>, options: ControllerOptions<T>): Controller {
  return controller<T>(kind, {
    ...options,
    status: "whole",
    logErrorsOnly: true,
    backoff: { initial: 5, longest: 1_000_000, refused: true, background: true },
  });
}
