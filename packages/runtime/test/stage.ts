import { ApiServer } from "@konverge/apiserver";
import { Client, type ClientOptions } from "@konverge/client";
import {
  type AnyObject,
  type ApiRequest,
  type ApiResponse,
  type KindRef,
  type KubeObject,
  keyOf,
  type ObjectKey,
  type Transport,
  VirtualClock,
} from "@konverge/core";
import { ConfigMap, CustomResourceDefinition, Namespace } from "@konverge/kinds";
import { type Controller, type Log, Manager, type ManagerOptions } from "@konverge/runtime";
import { defineKind, type ObjectOf, z } from "@konverge/schema";

/** A kind of the tests: its children are ConfigMaps. */
export const Widget = defineKind({
  group: "example.com",
  kind: "Widget",
  versions: {
    v1: {
      spec: z.object({
        maps: z.array(z.string()).default([]),
        text: z.string().default(""),
      }),
      status: z.object({ count: z.int().optional(), text: z.string().optional() }),
    },
  },
});
export type Widget = ObjectOf<typeof Widget>;

export function configMap(name: string, data: Record<string, string>) {
  return ConfigMap.draft({ metadata: { name }, data });
}

/** Decides what becomes of a request on its way: `next` sends it on. */
export type Interference = (request: ApiRequest, next: Transport) => Promise<ApiResponse>;

/** An API server, operators that come and go, and a user, on virtual time. */
export interface Stage {
  readonly clock: VirtualClock;
  readonly server: ApiServer;
  /** The user's client: nothing stands in its way. */
  readonly user: Client;
  /** All requests that operators have made, such as `PATCH /apis/…`, without watches. */
  readonly requests: string[];
  /** What operators have logged as warnings and errors. */
  readonly warnings: string[];
  interfere: Interference | undefined;
  /** Starts an operator. */
  run(controllers: Controller | Controller[], options?: Partial<ManagerOptions>): Promise<Manager>;
  /** An operator that is not started yet. */
  manager(controllers: Controller | Controller[], options?: Partial<ManagerOptions>): Manager;
  /** Lets time pass until nothing is about to happen any more. */
  settle(): Promise<void>;
  /** Runs the clock until the promise settles. */
  during<T>(promise: Promise<T>): Promise<T>;
  /** The writes among the requests since the last call, without query. */
  writes(): string[];
  exists(kind: KindRef<KubeObject>, key: ObjectKey): Promise<boolean>;
  widget(name: string, spec?: Partial<Widget["spec"]>): Promise<Widget>;
}

export async function stage(options: { clientOptions?: ClientOptions } = {}): Promise<Stage> {
  const clock = new VirtualClock();
  const server = new ApiServer({ clock });
  const user = new Client(server.transport, { clock, fieldManager: "user" });
  const requests: string[] = [];
  const complaints: string[] = [];
  await user.create(CustomResourceDefinition, Widget.crd() as never);
  for (const name of ["default", "other"]) {
    await user.create(Namespace, { metadata: { name } }).catch(() => {});
  }
  const noted: Transport = async (request) => {
    if (!request.path.includes("watch=true")) requests.push(`${request.method} ${request.path}`);
    await new Promise<void>((resolve) => clock.post(resolve, `request ${requests.length}`));
    return self.interfere ? self.interfere(request, server.transport) : server.transport(request);
  };
  const manager = (controllers: Controller | Controller[], more: Partial<ManagerOptions> = {}) =>
    new Manager("kind" in controllers ? [controllers] : controllers, {
      client: new Client(noted, { clock, ...options.clientOptions }),
      log: logTo(complaints),
      ...more,
    });
  const during = async <T>(promise: Promise<T>): Promise<T> => {
    let settled = false;
    const done = () => {
      settled = true;
    };
    promise.then(done, done);
    for (let i = 0; !settled; i++) {
      // Some turns first in which no time passes: what is on its way need not wait for a clock.
      const stepped = await clock.step(i % 20 === 19 ? undefined : clock.monotonic());
      if (i % 20 !== 19) continue;
      if ((!stepped && !settled) || i > 1_000_000)
        throw new Error("nothing happens any more, and the promise is pending");
    }
    return promise;
  };
  const self: Stage = {
    clock,
    server,
    user,
    requests,
    warnings: complaints,
    interfere: undefined,
    manager,
    async run(controllers, more) {
      const made = manager(controllers, more);
      await during(made.start());
      return made;
    },
    during,
    async settle() {
      const limit = clock.monotonic() + 3_600_000;
      for (;;) {
        await clock.step(clock.monotonic());
        const next = clock.nextForeground();
        if (!next) return;
        if (next.due > limit) throw new Error(`it does not settle: ${next.label}`);
        await clock.advance(Math.max(0, next.due - clock.monotonic()));
      }
    },
    writes() {
      const writes = requests.filter((request) => !request.startsWith("GET "));
      requests.length = 0;
      return writes.map((request) => request.split("?")[0]!);
    },
    exists: (kind, key) =>
      user.get(kind, key).then(
        () => true,
        () => false,
      ),
    widget: (name, spec = {}) => user.create(Widget.new({ metadata: { name, namespace: "default" }, spec })),
  };
  return self;
}

/** What an object says, without what differs from run to run. */
export async function dataOf(client: Client, key: ObjectKey): Promise<Record<string, string> | undefined> {
  return (await client.get(ConfigMap, key)).data;
}

export function conditionOf(object: KubeObject, type: string): string | undefined {
  const { status } = object as AnyObject & {
    status?: { conditions?: { type: string; status: string; reason: string }[] };
  };
  const found = status?.conditions?.find((condition) => condition.type === type);
  return found && `${found.status} ${found.reason}`;
}

export { keyOf };

export function logTo(complaints: string[]): Log {
  const complain = (_fields: object, message: string) => void complaints.push(message);
  const log: Log = { debug() {}, info() {}, warn: complain, error: complain, child: () => log };
  return log;
}
