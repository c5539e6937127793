import { AsyncLocalStorage } from "node:async_hooks";
import { currentReconcile } from "@konverge/runtime";

/** Options of {@link externalSystem}. */
export interface ExternalSystemOptions<T> {
  /** As it is called in faults and findings: `registry create`. Default: `external system`. */
  readonly name?: string;
  /**
   * The resources that the system has, by their ids, with all of their state that a run without faults decides: leave out what is
   * random, such as passwords. Without it, faults are injected and nothing is judged.
   */
  resources?(system: T): Iterable<readonly [id: string, state: unknown]>;
  /** Resources that outlive their object on purpose, such as a backup. Default: none. */
  kept?(id: string, state: unknown): boolean;
}

/** A call that a process of the operator makes. */
export interface ExternalCall {
  /** The system and its method: `registry create`. */
  readonly what: string;
  readonly args: readonly unknown[];
  /** The object whose reconcile makes it, if one does. */
  readonly by: { readonly kind: string; readonly key: string } | undefined;
}

/** Stands between the operator and external systems. `send` returns what the system returned: a promise if it was a call. */
export type AroundExternalCall = (call: ExternalCall, send: () => unknown, process: ExternalCaller) => unknown;

/** Whether a process has died. */
interface Mortal {
  readonly over: boolean;
}

/** The process that calls. */
export interface ExternalCaller {
  readonly number: number;
  crash(): void;
}

interface Definition {
  readonly create: () => object;
  readonly options: ExternalSystemOptions<unknown>;
}

/** The external systems of one cluster: each is made when it is first used. */
export class ExternalSystems {
  readonly #systems = new Map<Definition, object>();
  readonly #atFirst = new Map<Definition, ReadonlySet<string>>();
  readonly #around: AroundExternalCall | undefined;

  constructor(around?: AroundExternalCall) {
    this.#around = around;
    newest = this;
  }

  get(definition: Definition): object {
    const known = this.#systems.get(definition);
    if (known) return known;
    const system = definition.create();
    this.#systems.set(definition, system);
    this.#atFirst.set(definition, new Set(this.#resourcesOf(definition).map(({ id }) => id)));
    return system;
  }

  call(definition: Definition, method: string, args: readonly unknown[], send: () => unknown): unknown {
    const caller = callers.getStore();
    if (!caller || caller.systems !== this) return send();
    const { life, process } = caller;
    if (life.over) return new Promise(() => {});
    const { name = "external system" } = definition.options;
    const what = method === "" ? name : `${name} ${method}`;
    const { kind, key } = currentReconcile.getStore() ?? {};
    const by = kind === undefined || key === undefined ? undefined : { kind, key };
    const result = this.#around ? this.#around({ what, args, by }, send, process) : send();
    return result instanceof Promise ? whileAlive(result, life) : result;
  }

  /** The resources of all systems that something has been done to. */
  resources(): ExternalResourceState[] {
    return [...this.#systems.keys()].flatMap((definition) => this.#resourcesOf(definition));
  }

  #resourcesOf(definition: Definition): ExternalResourceState[] {
    const { name = "external system", resources, kept } = definition.options;
    const system = this.#systems.get(definition);
    if (!system || !resources) return [];
    const first = this.#atFirst.get(definition);
    return [...resources(system)].map(([id, state]) => {
      const isExpected = first?.has(id) === true || kept?.(id, state) === true;
      return { system: name, id, text: stableText(state), isExpected };
    });
  }
}

/** A resource of an external system. */
export interface ExternalResourceState {
  readonly system: string;
  readonly id: string;
  /** Its state; equal for equal states. */
  readonly text: string;
  /** Whether it was there before the operator began, or stays on purpose. */
  readonly isExpected: boolean;
}

/** What a process of an operator runs in: its external calls are known as its own. */
const callers = new AsyncLocalStorage<{
  readonly systems: ExternalSystems;
  readonly life: Mortal;
  readonly process: ExternalCaller;
}>();

/** Where a scenario runs that is in progress. */
const places = new AsyncLocalStorage<ExternalSystems>();

/** That of the test environment that was made last: for tests that make one without a scenario. */
let newest: ExternalSystems | undefined;

/** Runs what a process does. Timers of its clock have to be bound to it. */
export function asProcess<R>(systems: ExternalSystems, life: Mortal, process: ExternalCaller, work: () => R): R {
  return places.run(systems, () => callers.run({ systems, life, process }, work));
}

/** Runs a scenario whose external systems are these. */
export function inPlace<R>(systems: ExternalSystems, work: () => R): R {
  return places.run(systems, work);
}

/**
 * A fake of an external system for tests: use it as the system itself, both in the operator and in the scenario. Each cluster has its
 * own, which `create` makes: it survives crashes of the operator's process, and each run of an exploration begins with a new one.
 * The explorer injects faults into the operator's calls of its methods that return promises, and reports resources that are
 * leaked, made twice, or changed for an object that is gone.
 *
 * ```ts
 * const registry = externalSystem(() => new FakeRegistry(), { name: "registry", resources: ({ domains }) => domains });
 * const domainOperator = operatorOf(registry);
 *
 * assertNoFindings(await checkOperator(domainOperator));
 * ```
 *
 * A property that is itself an object is not watched: what the operator calls has to be a method of the fake.
 */
export function externalSystem<T extends object>(create: () => T, options: ExternalSystemOptions<T> = {}): T {
  const definition: Definition = { create, options: options as ExternalSystemOptions<unknown> };
  const systems = () => {
    const found = places.getStore() ?? newest;
    if (!found) throw new Error("externalSystem: there is no test environment yet: use it in a scenario");
    return found;
  };
  const system = () => systems().get(definition);
  // An arrow function, so that a system that is a function can be called.
  return new Proxy((() => {}) as object, {
    get(_, name) {
      const own = system();
      const value: unknown = Reflect.get(own, name, own);
      if (typeof value !== "function" || name === "constructor") return value;
      return (...args: unknown[]) =>
        systems().call(definition, String(name), args, () => Reflect.apply(value, own, args));
    },
    set: (_, name, value) => Reflect.set(system(), name, value),
    has: (_, name) => Reflect.has(system(), name),
    getPrototypeOf: () => Reflect.getPrototypeOf(system()),
    apply(_, self, args: unknown[]) {
      const own = system() as (...args: unknown[]) => unknown;
      return systems().call(definition, "", args, () => Reflect.apply(own, self, args));
    },
  }) as T;
}

/** A dead process learns nothing. */
async function whileAlive<R>(result: Promise<R>, life: Mortal): Promise<R> {
  try {
    return await result;
  } finally {
    if (life.over) await new Promise(() => {});
  }
}

/** JSON with the names of fields in order; maps and sets as what they hold. */
function stableText(state: unknown): string {
  return JSON.stringify(state, (_, value: unknown) => {
    if (value instanceof Map) return Object.fromEntries(value);
    if (value instanceof Set) return [...value];
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
