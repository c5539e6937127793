import {
  type Clock,
  type KindRef,
  type KubeObject,
  keyOf,
  readLines,
  readText,
  sleep,
  type Transport,
} from "@konverge/core";

/** A watch event as the API server sends it. */
export interface RawEvent<T> {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: T;
}

/** Lists all objects of a kind, at any version that the server has (`0`) or at least at this one. */
export async function rawList<T extends KubeObject>(
  transport: Transport,
  kind: KindRef<T>,
  resourceVersion: string,
): Promise<{ items: T[]; resourceVersion: string }> {
  const answer = await transport({
    method: "GET",
    path: `${pathOf(kind)}?resourceVersion=${resourceVersion}`,
    headers: {},
  });
  if (answer.status !== 200) throw new Error(`list ${kind.plural}: ${answer.status}`);
  const list = JSON.parse(await readText(answer.body)) as { metadata: { resourceVersion: string }; items: T[] };
  return { items: list.items, resourceVersion: list.metadata.resourceVersion };
}

/** The events of one watch request, until the server or the network ends it. */
export async function* rawWatch<T extends KubeObject>(
  transport: Transport,
  kind: KindRef<T>,
  resourceVersion: string,
): AsyncGenerator<RawEvent<T>> {
  const path = `${pathOf(kind)}?watch=true&allowWatchBookmarks=true&resourceVersion=${resourceVersion}`;
  const answer = await transport({ method: "GET", path, headers: {} });
  if (answer.status !== 200) throw new Error(`watch ${kind.plural}: ${answer.status}`);
  for await (const line of readLines(answer.body)) yield JSON.parse(line) as RawEvent<T>;
}

function pathOf({ group, version, plural }: KindRef<KubeObject>): string {
  return `${group === "" ? "/api" : `/apis/${group}`}/${version}/${plural}`;
}

/** A cache of one kind that is kept up to date as client-go's informers do: list at any version, then watch from there. */
export class Informer<T extends KubeObject> {
  readonly objects = new Map<string, T>();
  readonly #transport: Transport;
  readonly #kind: KindRef<T>;
  readonly #clock: Clock;
  readonly #changed: (object: T, isDeleted: boolean) => void;
  #version = "0";

  constructor(
    transport: Transport,
    kind: KindRef<T>,
    clock: Clock,
    changed: (object: T, isDeleted: boolean) => void = () => {},
  ) {
    this.#transport = transport;
    this.#kind = kind;
    this.#clock = clock;
    this.#changed = changed;
  }

  /** Resolves when the first list is in the cache. The watch goes on. */
  start(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    void this.#run(resolve);
    return promise;
  }

  async #run(synced: () => void): Promise<void> {
    for (;;) {
      try {
        await this.#list();
        synced();
        for await (const event of rawWatch(this.#transport, this.#kind, this.#version)) {
          if (event.type === "ERROR") break;
          this.#version = event.object.metadata.resourceVersion ?? this.#version;
          if (event.type !== "BOOKMARK") this.#take(event.object, event.type === "DELETED");
        }
      } catch {
        // The connection broke: what was missed is in the next list.
      }
      await sleep(this.#clock, 1000);
    }
  }

  async #list(): Promise<void> {
    const { items, resourceVersion } = await rawList(this.#transport, this.#kind, this.#version);
    this.#version = resourceVersion;
    const present = new Set(items.map(keyOf));
    for (const [key, object] of this.objects) if (!present.has(key)) this.#take(object, true);
    for (const object of items) this.#take(object, false);
  }

  #take(object: T, isDeleted: boolean): void {
    if (isDeleted) this.objects.delete(keyOf(object));
    else this.objects.set(keyOf(object), object);
    this.#changed(object, isDeleted);
  }
}
