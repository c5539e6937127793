import type { Client } from "@konverge/client";
import { metadataOnly } from "@konverge/client";
import { ConfigMap } from "@konverge/kinds";
import { persist } from "../harness/persist.ts";
import { Widget } from "./widget.ts";

const CONCURRENCY = 50;

/** Does something for each number below a count, some at a time. */
export async function forEach(count: number, work: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

export const widgetName = (i: number): string => `widget-${i}`;

export async function createWidget(client: Client, i: number): Promise<void> {
  await persist(() =>
    client.create(
      Widget,
      Widget.new({ metadata: { name: widgetName(i), namespace: "default" }, spec: { value: `value ${i}` } }),
    ),
  );
}

/** Objects that no operator reconciles, of two kilobytes each. */
export async function createForeign(client: Client, from: number, to: number): Promise<void> {
  await forEach(to - from, (i) =>
    persist(() =>
      client.create(ConfigMap, {
        metadata: { name: `foreign-${from + i}`, namespace: "foreign", labels: { number: String(from + i) } },
        data: { text: `${from + i} `.repeat(400).slice(0, 1900) },
      }),
    ),
  );
}

/** Watches objects, as a user would. */
export class Onlooker {
  /** When each Widget's status was first observed, by name. */
  readonly done = new Map<string, number>();
  /** When the last creation of each ConfigMap was observed. */
  readonly come = new Map<string, number>();
  readonly #stop = new AbortController();
  readonly #following: Promise<unknown>;

  constructor(client: Client) {
    const { signal } = this.#stop;
    const widgets = async () => {
      for await (const event of client.watch(Widget, { namespace: "default", signal })) {
        if (event.type !== "ADDED" && event.type !== "MODIFIED") continue;
        const { metadata, spec, status } = event.object;
        if (status?.value === spec.value && !this.done.has(metadata.name))
          this.done.set(metadata.name, performance.now());
      }
    };
    const children = async () => {
      for await (const event of client.watch(metadataOnly(ConfigMap), { namespace: "default", signal })) {
        if (event.type === "ADDED") this.come.set(event.object.metadata.name, performance.now());
      }
    };
    this.#following = Promise.all([widgets(), children()]);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#following;
  }
}
