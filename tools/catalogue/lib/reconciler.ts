import type { Client } from "@konverge/client";
import { type Clock, type KindRef, type KubeObject, keyOf } from "@konverge/core";
import { type PermissionDeclaration, permission } from "@konverge/runtime";
import type { Program, ProgramContext } from "@konverge/testing";
import { App } from "./app.ts";
import { Informer } from "./informer.ts";

/** What a reconciler is given. */
export interface Reconciliation {
  /** Writes, and reads that are never stale. */
  readonly client: Client;
  readonly clock: Clock;
  readonly namespace: string;
  /** Reads from the cache, as controller-runtime's client does. */
  cached<T extends KubeObject>(kind: KindRef<T>): { get(name: string): T | undefined; list(app: string): T[] };
}

/** A reconciler in the manner of controller-runtime: informers, a queue of keys, one function. */
export interface ReconcilerDefinition {
  /** Kinds that are cached; a change of an object requeues the App that controls it, or that its label `app` names. */
  readonly watches?: readonly KindRef<KubeObject>[];
  readonly permissions?: readonly PermissionDeclaration[];
  /** Called for each process: what it keeps is lost in a crash. Returns milliseconds after which to reconcile again. */
  create(): (name: string, app: App | undefined, context: Reconciliation) => Promise<number | undefined>;
  /** What else runs in the process. */
  also?(context: ProgramContext): Promise<void>;
}

const ALL = ["get", "list", "watch", "create", "update", "patch", "delete"] as const;

/** An operator for Apps that is written without the framework's controllers. */
export function reconciler(definition: ReconcilerDefinition): Program {
  const { watches = [], permissions = [] } = definition;
  return {
    name: "app-operator",
    kinds: [App],
    permissions: [
      permission(App, ALL),
      permission(App, ALL, { subresource: "status" }),
      ...watches.map((kind) => permission(kind, ALL)),
      ...permissions,
    ],
    async main(context) {
      await Promise.all([new Loop(definition, context).run(), definition.also?.(context)]);
    },
  };
}

class Loop {
  readonly #definition: ReconcilerDefinition;
  readonly #context: ProgramContext;
  readonly #queue = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #informers = new Map<string, Informer<KubeObject>>();
  #wake: (() => void) | undefined;

  constructor(definition: ReconcilerDefinition, context: ProgramContext) {
    this.#definition = definition;
    this.#context = context;
  }

  async run(): Promise<void> {
    const { transport, clock } = this.#context;
    const apps = new Informer(transport, App, clock, (object) => this.#add(keyOf(object)));
    const starts = [apps.start()];
    for (const kind of this.#definition.watches ?? []) {
      const informer = new Informer(transport, kind, clock, ({ metadata }) => {
        const { namespace, labels, ownerReferences } = metadata;
        const app =
          ownerReferences?.find(({ kind, controller }) => controller && kind === "App")?.name ?? labels?.["app"];
        if (app) this.#add(`${namespace}/${app}`);
      });
      this.#informers.set(kind.plural, informer);
      starts.push(informer.start());
    }
    await Promise.all(starts);
    const reconcile = this.#definition.create();
    for (;;) {
      for (const key of this.#queue) {
        this.#queue.delete(key);
        const [namespace = "", name = ""] = key.split("/");
        try {
          const after = await reconcile(name, apps.objects.get(key), this.#reconciliation(namespace));
          this.#failures.delete(key);
          if (typeof after === "number") clock.after(after, () => this.#add(key));
        } catch {
          const failures = (this.#failures.get(key) ?? 0) + 1;
          this.#failures.set(key, failures);
          clock.after(Math.min(100 * 2 ** failures, 60_000), () => this.#add(key));
        }
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #add(key: string): void {
    this.#queue.add(key);
    this.#wake?.();
  }

  #reconciliation(namespace: string): Reconciliation {
    const { client, clock } = this.#context;
    return {
      client,
      clock,
      namespace,
      cached: <T extends KubeObject>(kind: KindRef<T>) => {
        const objects = this.#informers.get(kind.plural)?.objects as unknown as ReadonlyMap<string, T>;
        return {
          get: (name: string) => objects.get(`${namespace}/${name}`),
          list: (app: string) =>
            [...objects.values()]
              .filter(({ metadata }) => metadata.namespace === namespace && metadata.labels?.["app"] === app)
              .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)),
        };
      },
    };
  }
}
