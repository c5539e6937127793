import type { ObjectKey } from "@konverge/core";
import type { Controller, DynamicController, DynamicControllerState } from "./definition.ts";

/**
 * A controller that a reconciler returns: it runs for as long as the result has it. Its kind need not be installed: its
 * objects are watched while its CustomResourceDefinition is there.
 *
 * ```ts
 * const kinds = controller(CustomResourceDefinition, {
 *   labelSelector: "example.com/websites=true",
 *   reconcile: (definition) => ({
 *     controllers: [dynamicController(websitesOf(definition), { revision: `${definition.metadata.generation}` })],
 *   }),
 * });
 * ```
 *
 * `revision`: which version of the controller it is. Functions cannot be compared: another revision replaces the running
 * controller, and the same one keeps it.
 */
export function dynamicController(controller: Controller, { revision }: { revision: string }): DynamicController {
  return { controller, revision };
}

/** An object whose reconciler returned controllers. */
export interface DynamicParent {
  /** The name of its controller. */
  readonly controller: string;
  readonly key: ObjectKey;
}

/** The controllers of a cluster that reconcilers have returned, as a controller loop sees them. */
export interface DynamicControllers {
  /** Makes exactly these controllers run for an object; an empty list stops all of them. */
  keep(parent: DynamicParent, controllers: readonly DynamicController[]): void;
  /** Undefined: the object has returned no controller of that name. */
  stateOf(parent: DynamicParent, name: string): DynamicControllerState | undefined;
}
