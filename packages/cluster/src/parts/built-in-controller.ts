import type { KindRef, KubeObject } from "@konverge/core";
import { type Controller, type ControllerOptions, controller } from "@konverge/runtime";

/**
 * A controller that behaves as one of kube-controller-manager: it reports by itself, in the status and events that
 * Kubernetes knows, and everything that fails is retried after delays as short as there. A cluster is idle while these
 * wait: what a quota refuses, for example, is retried forever.
 */
export function builtInController<T extends KubeObject>(kind: KindRef<T>, options: ControllerOptions<T>): Controller {
  return controller<T>(kind, {
    ...options,
    status: "whole",
    logErrorsOnly: true,
    backoff: { initial: 5, longest: 1_000_000, refused: true, background: true },
  });
}
