import { type Clock, deepEqual, stringifyJson, type Timer, type Transport } from "@konverge/core";
import type { WorkingObject } from "../codec/working-object.ts";
import type { Registry } from "../resources/registry.ts";
import { objectOf } from "../resources/stored-object.ts";
import type { Entry } from "../storage/entry.ts";
import type { Store } from "../storage/store.ts";
import { defaultsOf, ensureDefaults, isUntouchedDefault } from "./bootstrap.ts";

const FLOW_CONTROL = "flowcontrol.apiserver.k8s.io";
const LEVELS = `${FLOW_CONTROL}/prioritylevelconfigurations`;
const SCHEMAS = `${FLOW_CONTROL}/flowschemas`;

/** How often the server looks after those of its default objects that it keeps while it runs, in milliseconds. */
const PERIODS: Readonly<Record<string, number>> = {
  "/namespaces": 60_000,
  "networking.k8s.io/servicecidrs": 10_000,
  [LEVELS]: 60_000,
  [SCHEMAS]: 60_000,
};

const AUTO_UPDATE = "apf.kubernetes.io/autoupdate-spec";
const MANDATORY = new Set(["exempt", "catch-all"]);

/** What an object of this name should be; without one: gone. */
interface Change {
  readonly name: string;
  readonly object: WorkingObject | undefined;
}

/**
 * Recreates default objects that were deleted, and resets those of flow control that were changed, at the moments at which
 * kube-apiserver's loops do. There is a timer only while there is something to repair, so that a cluster where nothing
 * happens stays idle.
 */
export class DefaultsKeeper {
  readonly #store: Store;
  readonly #registry: Registry;
  readonly #clock: Clock;
  readonly #self: Transport;
  readonly #start: number;
  readonly #timers = new Map<string, Timer>();
  readonly #leave: (() => void)[];

  constructor(store: Store, registry: Registry, clock: Clock, self: Transport) {
    this.#store = store;
    this.#registry = registry;
    this.#clock = clock;
    this.#self = self;
    this.#start = clock.monotonic();
    this.#leave = Object.keys(PERIODS).map((resource) => store.onChange(resource, () => this.#schedule(resource)));
    for (const resource of Object.keys(PERIODS)) this.#schedule(resource);
  }

  close(): void {
    for (const leave of this.#leave) leave();
    for (const timer of this.#timers.values()) timer.cancel();
  }

  #schedule(resource: string): void {
    if (this.#timers.has(resource) || !this.#needsRepair(resource)) return;
    const period = PERIODS[resource]!;
    const delay = period - ((this.#clock.monotonic() - this.#start) % period);
    const options = { label: `default objects of ${resource}`, background: true };
    const timer = this.#clock.after(delay, () => void this.#repair(resource), options);
    this.#timers.set(resource, timer);
  }

  #needsRepair(resource: string): boolean {
    const collection = this.#store.collection(resource);
    if (defaultsOf(resource).some(({ metadata }) => !collection.get(metadata.name))) return true;
    return resource.startsWith(FLOW_CONTROL) && this.#flowControlChanges(resource).length > 0;
  }

  async #repair(resource: string): Promise<void> {
    this.#timers.delete(resource);
    ensureDefaults(this.#store, this.#registry, this.#clock, resource);
    if (!resource.startsWith(FLOW_CONTROL)) return;
    for (const { name, object } of this.#flowControlChanges(resource)) {
      const path = `/apis/${FLOW_CONTROL}/v1/${resource.slice(FLOW_CONTROL.length + 1)}/${name}`;
      const manager = "?fieldManager=api-priority-and-fairness-config-producer-v1";
      const headers = { "content-type": "application/json" };
      await this.#self(
        object
          ? { method: "PUT", path: path + manager, headers, body: stringifyJson(object) }
          : { method: "DELETE", path, headers },
      );
    }
  }

  /** What is to be done about the objects of flow control that are not as they should be. */
  #flowControlChanges(resource: string): Change[] {
    const expected = new Map(defaultsOf(resource).map((object) => [object.metadata.name, object]));
    return [...this.#store.collection(resource).scan("")].flatMap((entry): Change[] => {
      if (isUntouchedDefault(entry) || unchanged.has(entry)) return [];
      const current = objectOf(entry);
      const { name } = current.metadata;
      const wanted = expected.get(name);
      const object = wanted && revised(current, wanted);
      if (object) return [{ name, object }];
      // What an older server made by default, and this one does not.
      if (!wanted && autoUpdateOf(current) === true) return [{ name, object: undefined }];
      unchanged.add(entry);
      return [];
    });
  }
}

/** Servers that start from copies of one state share its entries: each is looked at once. */
const unchanged = new WeakSet<Entry>();

/** A default object of flow control as it should be; undefined when it is so. */
function revised(current: WorkingObject, expected: WorkingObject): WorkingObject | undefined {
  const { metadata } = current;
  const given = autoUpdateOf(current);
  const isUpdated = MANDATORY.has(metadata.name) || (given ?? metadata.generation === 1);
  const spec = isUpdated ? expectedSpec(current, expected) : current["spec"];
  if (given === isUpdated && deepEqual(spec, current["spec"])) return undefined;
  const annotations = { ...metadata.annotations, [AUTO_UPDATE]: String(isUpdated) };
  return { ...current, metadata: { ...metadata, annotations }, spec };
}

/** What the exempt level lends and counts for is for its users to say. */
function expectedSpec(current: WorkingObject, expected: WorkingObject): unknown {
  const own = (current["spec"] as { exempt?: object } | undefined)?.exempt;
  const spec = expected["spec"] as { exempt?: object };
  return spec.exempt && own ? { ...spec, exempt: { ...spec.exempt, ...own } } : spec;
}

/** As Go's strconv.ParseBool reads it. */
function autoUpdateOf({ metadata }: WorkingObject): boolean | undefined {
  const value = metadata.annotations?.[AUTO_UPDATE] ?? "";
  if (/^(1|t|T|TRUE|true|True)$/.test(value)) return true;
  return /^(0|f|F|FALSE|false|False)$/.test(value) ? false : undefined;
}
