import { groupKindText, type KindRef, type KubeObject } from "@konverge/core";
import { dynamicName } from "../cache/own-managers.ts";
import { ControllerLoop } from "../controller/loop.ts";
import type { Cluster } from "../controller/wiring.ts";
import type { Controller, DynamicController, DynamicControllerState } from "../definition/definition.ts";
import type { DynamicControllers, DynamicParent } from "../definition/dynamic.ts";
import { PermanentError } from "../errors.ts";

interface Running {
  readonly parent: DynamicParent;
  readonly revision: string;
  readonly loop: ControllerLoop;
  started: boolean;
}

export interface DynamicLoopsOptions {
  readonly cluster: Omit<Cluster, "dynamic">;
  /** Whether a controller decides if its objects are ready, rather than one that runs already. */
  readonly isPrimary: (definition: Controller) => boolean;
  /** Several replicas share the objects: each would run the controllers of its own ones alone. */
  readonly sharded: boolean;
  /** The state of a controller of this object has changed. */
  readonly onChange: (parent: DynamicParent) => void;
}

/**
 * Starts and stops controllers in a manager at work.
 *
 * Guarantees
 * - A name runs once: a controller that replaces another starts when the reconciles of that one have ended. What both read
 *   stays cached meanwhile.
 * - A kind that is not served, or cannot be listed, holds up only the controller that needs it.
 * - A controller that has stopped keeps no watch that no other one needs.
 */
export class DynamicLoops implements DynamicControllers {
  readonly #options: DynamicLoopsOptions;
  readonly #running = new Map<string, Running>();
  /** The ends of those that are stopping, by name. */
  readonly #ending = new Map<string, Promise<void>>();
  readonly #aborting = new Set<ControllerLoop>();
  #closed = false;

  constructor(options: DynamicLoopsOptions) {
    this.#options = options;
  }

  keep(parent: DynamicParent, controllers: readonly DynamicController[]): void {
    if (this.#closed) return;
    const wanted = this.#checked(parent, controllers);
    for (const [name, { parent: other }] of [...this.#running]) {
      if (isSame(parent, other) && !wanted.has(name)) this.#stop(name);
    }
    for (const [name, { controller, revision }] of wanted) {
      const known = this.#running.get(name);
      if (known?.revision === revision) continue;
      // Declared before the old one releases its watches: what both read is not listed again.
      const loop = this.#newLoop({ ...controller, name });
      if (known) this.#stop(name);
      this.#start(name, { parent, revision, loop, started: false });
    }
  }

  stateOf(parent: DynamicParent, name: string): DynamicControllerState | undefined {
    const running = this.#running.get(dynamicName(parent.controller, name));
    if (!running || !isSame(parent, running.parent)) return undefined;
    const { loop, started } = running;
    const failing = loop.views
      .flatMap(({ informers }) => informers)
      .find(({ synced, error }) => !synced && error !== undefined);
    if (failing) return { state: "starting", message: `${groupKindText(failing.kind)}: ${failing.error!.message}` };
    if (!started) return { state: "starting" };
    if (loop.isServed) return { state: "running" };
    return { state: "waiting", message: `${groupKindText(loop.definition.kind)} is not installed` };
  }

  /** The loops at work. */
  *loops(): IterableIterator<ControllerLoop> {
    for (const { loop } of this.#running.values()) yield loop;
  }

  /** A watch of this kind has failed: those that wait for it have a reason to report. */
  watchFailed(kind: KindRef<KubeObject>): void {
    const what = groupKindText(kind);
    for (const { parent, loop, started } of this.#running.values()) {
      if (!started && loop.views.some((view) => groupKindText(view.kind) === what)) this.#options.onChange(parent);
    }
  }

  /** Starts no more controllers, and resolves when all have stopped. */
  async stop(): Promise<void> {
    this.#closed = true;
    for (const name of [...this.#running.keys()]) this.#stop(name);
    await Promise.all(this.#ending.values());
  }

  /** Interrupts the work in progress. */
  abort(reason: Error): void {
    for (const { loop } of this.#running.values()) loop.abort(reason);
    for (const loop of this.#aborting) loop.abort(reason);
  }

  /** The controllers by the names under which they run. */
  #checked(parent: DynamicParent, controllers: readonly DynamicController[]): Map<string, DynamicController> {
    if (controllers.length > 0 && this.#options.sharded) {
      const message = `${parent.controller} returned controllers, which replicas that share the objects cannot run: use leader election instead of sharding`;
      throw new PermanentError("ShardedControllers", message);
    }
    const wanted = new Map<string, DynamicController>();
    for (const one of controllers) {
      const name = dynamicName(parent.controller, one.controller.name);
      const other = this.#running.get(name);
      if (wanted.has(name) || (other && !isSame(parent, other.parent))) {
        const whose = wanted.has(name) ? "it is returned twice" : `${other!.parent.key} has returned it`;
        throw new PermanentError(
          "ControllerExists",
          `a controller called ${one.controller.name} runs already (${whose}): give each a unique \`name\``,
        );
      }
      wanted.set(name, one);
    }
    return wanted;
  }

  #newLoop(definition: Controller): ControllerLoop {
    const { cluster, isPrimary } = this.#options;
    const role = { isPrimary: isPrimary(definition), optionalKind: true };
    return new ControllerLoop(definition, { ...cluster, dynamic: this }, role);
  }

  #start(name: string, one: Running): void {
    this.#running.set(name, one);
    const { parent, loop } = one;
    const { onChange } = this.#options;
    loop.onServedChange(() => onChange(parent));
    const begin = async () => {
      await this.#ending.get(name);
      if (this.#running.get(name) !== one) return;
      await loop.start();
      if (this.#running.get(name) !== one) return;
      one.started = true;
      onChange(parent);
    };
    // A watch that ends for good has reported why.
    void begin().catch(() => onChange(parent));
  }

  #stop(name: string): void {
    const { loop } = this.#running.get(name)!;
    this.#running.delete(name);
    this.#aborting.add(loop);
    const before = this.#ending.get(name);
    const ended = Promise.all([before, loop.stop()]).then(() => {
      this.#aborting.delete(loop);
      if (this.#ending.get(name) === ended) this.#ending.delete(name);
    });
    this.#ending.set(name, ended);
  }
}

const isSame = (one: DynamicParent, other: DynamicParent) =>
  one.controller === other.controller && one.key === other.key;
