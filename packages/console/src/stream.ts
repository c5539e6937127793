import type { ServerResponse } from "node:http";
import type { Clock, Timer } from "@konverge/core";
import type { Entry, Hello, ObjectSummary, Sample, StreamMessage } from "./protocol.ts";

/** Milliseconds for which changes are collected before they are sent. */
const PERIOD = 100;
/** A page that has this many bytes unread is cut off; it connects again and gets the present state. */
const LARGEST_BACKLOG = 16 * 2 ** 20;

/** Where a page gets the state from that it begins with. */
export interface StreamSource {
  hello(): Hello;
  objects(): readonly ObjectSummary[];
  entries(): readonly Entry[];
  samples(): readonly Sample[];
}

/** Sends every page what changes, as server-sent events, many changes at a time. */
export class Stream {
  readonly #clock: Clock;
  readonly #source: StreamSource;
  readonly #pages = new Set<ServerResponse>();
  #objects = new Map<string, ObjectSummary | undefined>();
  #entries: Entry[] = [];
  #samples: Sample[] = [];
  #hello: Hello | undefined;
  #timer: Timer | undefined;

  constructor(clock: Clock, source: StreamSource) {
    this.#clock = clock;
    this.#source = source;
  }

  open(response: ServerResponse): void {
    this.#send(response, {
      reset: true,
      hello: this.#source.hello(),
      objects: this.#source.objects(),
      entries: this.#source.entries(),
      samples: this.#source.samples(),
    });
    this.#pages.add(response);
    response.once("close", () => this.#pages.delete(response));
  }

  changed(summary: ObjectSummary): void {
    this.#note(() => this.#objects.set(summary.id, summary));
  }

  removed(id: string): void {
    this.#note(() => this.#objects.set(id, undefined));
  }

  added(entry: Entry): void {
    this.#note(() => this.#entries.push(entry));
  }

  sampled(sample: Sample): void {
    this.#note(() => this.#samples.push(sample));
  }

  hello(hello: Hello): void {
    this.#note(() => {
      this.#hello = hello;
    });
  }

  close(): void {
    this.#timer?.cancel();
    for (const page of this.#pages) page.end();
  }

  #note(add: () => void): void {
    if (this.#pages.size === 0) return;
    add();
    this.#timer ??= this.#clock.after(PERIOD, () => this.#flush(), { background: true, label: "console stream" });
  }

  #flush(): void {
    this.#timer = undefined;
    const objects = [...this.#objects.values()].filter((one) => one !== undefined);
    const removed = [...this.#objects].filter(([, one]) => one === undefined).map(([id]) => id);
    const message: StreamMessage = {
      ...(this.#hello && { hello: this.#hello }),
      ...(objects.length > 0 && { objects }),
      ...(removed.length > 0 && { removed }),
      ...(this.#entries.length > 0 && { entries: this.#entries }),
      ...(this.#samples.length > 0 && { samples: this.#samples }),
    };
    this.#objects = new Map();
    this.#entries = [];
    this.#samples = [];
    this.#hello = undefined;
    for (const page of this.#pages) this.#send(page, message);
  }

  #send(page: ServerResponse, message: StreamMessage): void {
    if (page.writableLength > LARGEST_BACKLOG) page.destroy();
    else page.write(`data: ${JSON.stringify(message)}\n\n`);
  }
}
