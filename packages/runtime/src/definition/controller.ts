import type { KindRef, KubeObject } from "@konverge/core";
import type { OwnedKind } from "../apply/child.ts";
import { checkDefinition, checkKind } from "./check-definition.ts";
import type { CheckedReconciler, Controller, ControllerOptions, Reconciled } from "./definition.ts";

/**
 * Defines a controller: for each object of the kind, `reconcile` returns the desired state.
 *
 * ```ts
 * const models = controller(LLMModel, {
 *   owns: [Deployment],
 *   reconcile: (model) => ({ children: [deploymentFor(model)] }),
 * });
 * ```
 */
export function controller<T extends KubeObject, const R extends Reconciled<T> = Reconciled<T>>(
  kind: KindRef<T>,
  options: ControllerOptions<T, R> & CheckedReconciler<T, R>,
): Controller {
  checkKind(kind);
  const name = options.name ?? (kind.group === "" ? kind.plural : `${kind.plural}.${kind.group}`);
  const owns = (options.owns ?? []).map((given) =>
    "plural" in (given ?? {}) ? { kind: given as KindRef<KubeObject> } : { ...(given as OwnedKind) },
  );
  const needsFinalizer =
    options.cleanup !== undefined ||
    options.daemons !== undefined ||
    options.teardown === "ordered" ||
    owns.some(({ by }) => by === "label");
  const definition: Controller = {
    name,
    kind,
    owns,
    finalizer: needsFinalizer ? (options.finalizer ?? defaultFinalizer(kind, name)) : undefined,
    // Only objects of the kind ever reach its functions.
    options: options as unknown as Controller["options"],
  };
  checkDefinition(definition);
  return definition;
}

/** The finalizer of a controller that names none: a domain, a slash, and a part of at most 63 characters. */
export function defaultFinalizer(kind: KindRef<KubeObject>, name: string): string {
  const domain = kind.group.includes(".") ? kind.group : "konverge.dev";
  return `${domain}/${name.replace(/\..*$/, "").slice(0, 55)}-cleanup`;
}
