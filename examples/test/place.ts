import type { AnyKind, Controller, Manager, ManagerOptions } from "konverge";
import type { Client } from "konverge/client";
import type { Webhooks } from "konverge/webhooks";

/** Where an example is tried out: the embedded cluster or a real one. A scenario cannot distinguish them. */
export interface Place {
  /** A namespace of the scenario's own. */
  readonly namespace: string;
  /** The user's client, with all permissions. */
  readonly client: Client;
  /** What the server has warned the user about. */
  readonly warnings: readonly string[];
  /** Installs the CRDs of kinds. */
  install(...kinds: AnyKind[]): Promise<void>;
  /** Runs an operator until the scenario ends. */
  run(controllers: Controller | readonly Controller[], options?: Partial<ManagerOptions>): Promise<Manager>;
  /** Has the API server ask these webhooks until the scenario ends. */
  serve(webhooks: Webhooks, name: string): Promise<void>;
  /** Waits until the condition holds and throws nothing. */
  until(what: string, condition: () => Promise<boolean | undefined> | boolean | undefined): Promise<void>;
}

export type Scenario = (place: Place) => Promise<void>;

/** What differs from one kind of cluster to the other. */
export interface Ground {
  client: Client;
  warnings: string[];
  /** Waits for a promise, letting time pass. */
  during<T>(promise: Promise<T>): Promise<T>;
  /** Lets a little time pass; false when the waiting must end. */
  pause(since: number): Promise<boolean>;
  serve(webhooks: Webhooks, name: string): Promise<() => Promise<void>>;
}

/** Plays a scenario in a dedicated namespace, and stops all that it started. */
export async function play(scenario: Scenario, namespace: string, ground: Ground): Promise<void> {
  const { CustomResourceDefinition, Namespace } = await import("konverge/kinds");
  const { run } = await import("konverge");
  const { silentLog } = await import("konverge/observability");
  const { client, warnings, during } = ground;
  const ends: (() => Promise<void>)[] = [];
  const until: Place["until"] = async (what, condition) => {
    const since = client.clock.monotonic();
    let last: unknown;
    for (;;) {
      try {
        if (await condition()) return;
      } catch (error) {
        last = error;
      }
      if (!(await ground.pause(since))) throw new Error(`it never came true that ${what}`, { cause: last });
    }
  };
  const place: Place = {
    namespace,
    client,
    warnings,
    until,
    async install(...kinds) {
      for (const kind of kinds) {
        await client.create(CustomResourceDefinition, kind.crd() as never);
        await until(`${kind.kind} is served`, () => client.list(kind).then(() => true));
      }
    },
    async run(controllers, options) {
      const list = "kind" in controllers ? [controllers] : controllers;
      const manager = await during(run(list, { client, namespaces: [namespace], log: silentLog, ...options }));
      ends.unshift(() => during(manager.stop()));
      return manager;
    },
    async serve(webhooks, name) {
      ends.unshift(await ground.serve(webhooks, name));
    },
  };
  await client.create(Namespace, { metadata: { name: namespace } });
  try {
    await scenario(place);
  } finally {
    for (const end of ends) await end();
  }
}
