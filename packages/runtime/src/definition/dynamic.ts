import type { Controller } from "./definition.ts";

/** A controller that runs while an object returns it, see {@link dynamicController}. */
export interface DynamicController {
  readonly controller: Controller;
  readonly revision: string;
}

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

/** How far a controller is that a reconciler returned. */
export interface DynamicControllerState {
  /** `waiting`: its kind is not served. `starting`: what it reads has not been listed yet. */
  readonly state: "waiting" | "starting" | "running";
  /** What it waits for, such as the error of a watch. */
  readonly message?: string;
}

/** The name under which a controller runs that another one returned: its metrics and field manager have it. */
export function dynamicName(parent: string, name: string): string {
  return `${parent}/${name}`;
}

/** Whether a field manager is one of `managers`, or that of a controller that one of them returned. */
export function isOwnManager(manager: string, managers: ReadonlySet<string>): boolean {
  if (managers.has(manager)) return true;
  for (let i = manager.indexOf("/"); i > 0; i = manager.indexOf("/", i + 1)) {
    if (managers.has(manager.slice(0, i))) return true;
  }
  return false;
}
