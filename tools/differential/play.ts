import { setTimeout as sleep } from "node:timers/promises";
import { headerOf, headerValues, readLines, readText, type Transport } from "@konverge/core";
import type { EventsStep, RequestStep, Script, Step, WaitStep, WatchStep } from "./script.ts";

/** What a server said at one step. */
export type Result =
  | { step: number; what: string; status: number; contentType: string; warnings: readonly string[]; body: unknown }
  | { step: number; what: string; events: unknown[] }
  | { step: number; what: string; failed: string };

const PATIENCE_MS = 15_000;

/** Plays a script on a server, in a namespace of its own, and returns what the server said. */
export async function play(script: Script, transport: Transport, namespace: string): Promise<Result[]> {
  const player = new Player(transport, namespace);
  try {
    await player.prepare();
    const results: Result[] = [];
    for (const [index, step] of script.steps.entries()) {
      const result = await player
        .step(index + 1, step)
        .catch((error: unknown) => ({ step: index + 1, what: "step", failed: String(error) }));
      if (result) results.push(result);
    }
    return results;
  } finally {
    player.close();
  }
}

class Player {
  readonly #transport: Transport;
  readonly #variables: Record<string, string>;
  readonly #watches = new Map<string, { events: unknown[]; ended: boolean }>();
  readonly #abort = new AbortController();

  constructor(transport: Transport, namespace: string) {
    this.#transport = transport;
    this.#variables = { ns: namespace };
  }

  /** The namespace, and the service account that pods in it run as: no controller makes it here. */
  async prepare(): Promise<void> {
    const { ns } = this.#variables;
    await this.#send("POST", "/api/v1/namespaces", {}, { metadata: { name: ns } });
    await this.#send("POST", `/api/v1/namespaces/${ns}/serviceaccounts`, {}, { metadata: { name: "default" } });
  }

  close(): void {
    this.#abort.abort();
  }

  async step(index: number, step: Step): Promise<Result | undefined> {
    if ("request" in step) return this.#request(index, step);
    if ("watch" in step) return this.#watch(index, step);
    if ("events" in step) return this.#events(index, step);
    return this.#wait(index, step);
  }

  async #request(index: number, step: RequestStep): Promise<Result> {
    const [method, path] = splitRequest(this.#fill(step.request) as string);
    const headers = { ...step.headers, ...impersonation(step.as) };
    const response = await this.#send(method, path, headers, step.body);
    for (const [name, pointer] of Object.entries(step.save ?? {}))
      this.#variables[name] = String(valueAt(response.body, pointer));
    return { step: index, what: `${method} ${path}`, ...response };
  }

  async #watch(index: number, { watch, as, headers }: WatchStep): Promise<Result | undefined> {
    const path = this.#fill(watch) as string;
    const url = path.includes("watch=") ? path : `${path}${path.includes("?") ? "&" : "?"}watch=true`;
    const response = await this.#transport({
      method: "GET",
      path: url,
      headers: { accept: "application/json", ...headers },
      signal: this.#abort.signal,
    });
    const state = { events: [] as unknown[], ended: false };
    this.#watches.set(as, state);
    if (response.status !== 200) {
      const body = parse(await readText(response.body));
      return {
        step: index,
        what: `watch ${path}`,
        status: response.status,
        contentType: typeOf(response.headers),
        warnings: [],
        body,
      };
    }
    void this.#collect(response.body, state);
    return undefined;
  }

  async #collect(body: Parameters<typeof readLines>[0], state: { events: unknown[]; ended: boolean }): Promise<void> {
    try {
      for await (const line of readLines(body)) {
        const event = parse(line) as { type?: string; object?: { metadata?: { annotations?: object } } };
        if (event.type === "BOOKMARK" && !event.object?.metadata?.annotations) continue;
        state.events.push(event);
      }
    } catch {
      // The script is over, or the connection broke: either way there are no more events.
    }
    state.ended = true;
  }

  async #events(index: number, { events: name, count }: EventsStep): Promise<Result> {
    const state = this.#watches.get(name);
    if (!state) throw new Error(`no watch called ${name} has been opened`);
    await this.#until(() => state.events.length >= count || state.ended);
    return { step: index, what: `events of ${name}`, events: state.events.slice(0, count) };
  }

  async #wait(index: number, step: WaitStep): Promise<Result | undefined> {
    const [method, path] = splitRequest(this.#fill(step.wait) as string);
    let last: { status: number; body: unknown } | undefined;
    const met = await this.#until(async () => {
      last = await this.#send(method, path, step.headers ?? {}, step.body);
      if (last.status !== (step.status ?? 200)) return false;
      return !step.until || JSON.stringify(valueAt(last.body, step.until.path)) === JSON.stringify(step.until.is);
    });
    return met
      ? undefined
      : { step: index, what: `wait ${path}`, failed: `never came true; last: ${JSON.stringify(last)}` };
  }

  async #until(condition: () => boolean | Promise<boolean>): Promise<boolean> {
    for (let waited = 0; waited < PATIENCE_MS; waited += 50) {
      if (await condition()) return true;
      await sleep(50);
    }
    return false;
  }

  async #send(method: string, path: string, headers: Record<string, string>, body?: unknown) {
    const filled =
      body === undefined
        ? undefined
        : typeof body === "string"
          ? (this.#fill(body) as string)
          : JSON.stringify(this.#fill(body));
    const response = await this.#transport({
      method,
      path,
      headers: {
        accept: "application/json",
        "user-agent": "differential/1",
        ...(filled !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(filled !== undefined && { body: filled }),
    });
    const text = await readText(response.body);
    return {
      status: response.status,
      contentType: typeOf(response.headers),
      warnings: headerValues(response.headers, "warning"),
      body: parse(text),
    };
  }

  /** Puts variables in place of `$name`, in strings at any depth. */
  #fill(value: unknown): unknown {
    if (typeof value === "string")
      return value.replace(/\$\{?([A-Za-z][A-Za-z0-9]*)\}?/g, (all, name: string) => this.#variables[name] ?? all);
    if (Array.isArray(value)) return value.map((item) => this.#fill(item));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [this.#fill(key), this.#fill(item)]));
  }
}

function splitRequest(text: string): [method: string, path: string] {
  const space = text.indexOf(" ");
  return [text.slice(0, space), text.slice(space + 1)];
}

function impersonation(as: string | undefined): Record<string, string> {
  if (!as) return {};
  const [user, ...groups] = as.split(",").map((part) => part.trim());
  return { "impersonate-user": user!, ...(groups.length > 0 && { "impersonate-group": groups.join(",") }) };
}

function typeOf(headers: Parameters<typeof headerOf>[0]): string {
  return headerOf(headers, "content-type") ?? "";
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** `.metadata.ownerReferences[0].uid`: names and indexes only. */
export function valueAt(value: unknown, path: string): unknown {
  let at = value;
  for (const [, name, index] of path.matchAll(/\.?([A-Za-z0-9_-]+)|\[(\d+)\]/g)) {
    at = (at as Record<string, unknown> | undefined)?.[name ?? index!];
  }
  return at;
}
