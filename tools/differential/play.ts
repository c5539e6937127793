import { setTimeout as sleep } from "node:timers/promises";
import { type HeaderMap, headerOf, headerValues, readLines, readText } from "@konverge/core";
import { parse as parseYaml } from "yaml";
import type { EventsStep, RequestStep, Script, Step, WaitStep, WatchStep } from "./script.ts";
import type { Target } from "./target.ts";

/** What a server said at one step. */
export type Result = Answer | { step: number; what: string; events: unknown[]; ended?: boolean } | Failure;

export interface Answer {
  step: number;
  what: string;
  status: number;
  contentType: string;
  warnings: readonly string[];
  retryAfter?: string;
  body: unknown;
}

interface Failure {
  step: number;
  what: string;
  failed: string;
}

const PATIENCE_MS = 15_000;

/** Runs a script against a server, in a separate namespace, and returns the responses. */
export async function play(
  script: Script,
  target: Target,
  namespace: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<Result[]> {
  const player = new Player(target, { ...variables, ns: namespace });
  try {
    await player.prepare();
    const results: Result[] = [];
    for (const [index, step] of script.steps.entries()) {
      const said = await player
        .step(index + 1, step)
        .catch((error: unknown) => [{ step: index + 1, what: "step", failed: String(error) }]);
      results.push(...said);
    }
    return results;
  } finally {
    player.close();
  }
}

interface Watch {
  readonly events: unknown[];
  ended: boolean;
}

class Player {
  readonly #target: Target;
  readonly #variables: Record<string, string>;
  readonly #watches = new Map<string, Watch>();
  readonly #abort = new AbortController();

  constructor(target: Target, variables: Record<string, string>) {
    this.#target = target;
    this.#variables = variables;
  }

  /** The namespace, and the service account that pods in it run as: no controller makes it here. */
  async prepare(): Promise<void> {
    const { ns } = this.#variables;
    const made = await this.#send("POST", "/api/v1/namespaces", {}, { metadata: { name: ns } });
    // Where a watch of what happens in the namespace may start.
    this.#variables.start = String(valueAt(made.body, ".metadata.resourceVersion"));
    await this.#send("POST", `/api/v1/namespaces/${ns}/serviceaccounts`, {}, { metadata: { name: "default" } });
  }

  close(): void {
    this.#abort.abort();
  }

  async step(index: number, step: Step): Promise<Result[]> {
    if ("request" in step) return this.#requests(index, step);
    if ("watch" in step) return this.#watch(index, step);
    if ("events" in step) return [await this.#events(index, step)];
    if ("wait" in step) return this.#wait(index, step);
    await this.#target.compact();
    return [];
  }

  async #requests(index: number, step: RequestStep): Promise<Result[]> {
    if (!step.each) return [await this.#request(index, step)];
    const results: Result[] = [];
    for (const item of step.each) {
      this.#variables.item = String(item);
      results.push(await this.#request(index, step));
    }
    return results;
  }

  async #request(index: number, step: RequestStep): Promise<Result> {
    const [method, path] = splitRequest(this.#fill(step.request) as string);
    const headers = { ...(this.#fill(step.headers ?? {}) as HeaderMap), ...impersonation(this.#fill(step.as)) };
    const response = await this.#send(method, path, headers, step.body);
    for (const [name, pointer] of Object.entries(step.save ?? {})) {
      const value = valueAt(response.body, pointer);
      if (value !== undefined) this.#variables[name] = String(value);
    }
    return { step: index, what: step.request, ...response };
  }

  async #watch(index: number, { watch, as, headers }: WatchStep): Promise<Result[]> {
    const path = this.#fill(watch) as string;
    const url = /[?&]watch=|\/watch\//.test(path) ? path : `${path}${path.includes("?") ? "&" : "?"}watch=true`;
    const response = await this.#target.transport({
      method: "GET",
      path: url,
      headers: { accept: "application/json", ...headers },
      signal: this.#abort.signal,
    });
    const state: Watch = { events: [], ended: false };
    this.#watches.set(as, state);
    if (response.status === 200) {
      void this.#collect(response.body, state);
      return [];
    }
    const body = parse(await readText(response.body));
    return [{ step: index, what: `watch ${watch}`, status: response.status, ...headersOfNote(response.headers), body }];
  }

  async #collect(body: Parameters<typeof readLines>[0], state: Watch): Promise<void> {
    try {
      for await (const line of readLines(body)) {
        const event = parse(line) as { type?: string; object?: { metadata?: { annotations?: object } } };
        if (event.type === "BOOKMARK" && !JSON.stringify(event).includes("initial-events-end")) continue;
        state.events.push(event);
      }
    } catch {
      // The script is over, or the connection broke: either way there are no more events.
    }
    state.ended = true;
  }

  async #events(index: number, { events: name, count, until, ended }: EventsStep): Promise<Result> {
    const state = this.#watches.get(name);
    if (!state) throw new Error(`no watch called ${name} has been opened`);
    const last = () => state.events.findIndex((event) => nameOf(event) === until);
    const isHere = () => (until === undefined ? state.events.length >= (count ?? 0) : last() >= 0);
    if (!(await this.#until(() => state.ended || (isHere() && !ended))) || (!ended && !isHere())) {
      const failed = `waited in vain: of ${count ?? `the events up to ${until}`} there were ${state.events.length}`;
      return { step: index, what: `events of ${name}`, failed };
    }
    const events = state.events.slice(0, until === undefined ? (count ?? 0) : last() + 1);
    return { step: index, what: `events of ${name}`, events, ...(ended && { ended: state.ended }) };
  }

  async #wait(index: number, step: WaitStep): Promise<Result[]> {
    const [method, path] = splitRequest(this.#fill(step.wait) as string);
    let last: { status: number; body: unknown } | undefined;
    const met = await this.#until(async () => {
      last = await this.#send(method, path, { ...step.headers, ...impersonation(this.#fill(step.as)) }, step.body);
      if (last.status !== (step.status ?? 200)) return false;
      return (
        !step.until ||
        JSON.stringify(valueAt(last.body, step.until.path) ?? null) ===
          JSON.stringify(this.#fill(step.until.is) ?? null)
      );
    });
    if (met) return [];
    return [{ step: index, what: `wait ${step.wait}`, failed: `never came true; last: ${JSON.stringify(last)}` }];
  }

  async #until(condition: () => boolean | Promise<boolean>): Promise<boolean> {
    for (let waited = 0, pause = 2; waited < PATIENCE_MS; waited += pause, pause = Math.min(50, pause * 2)) {
      if (await condition()) return true;
      await sleep(pause);
    }
    return false;
  }

  async #send(method: string, path: string, headers: HeaderMap, body?: unknown) {
    const filled = this.#body(body);
    const response = await this.#target.transport({
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
    const note = headersOfNote(response.headers);
    // How YAML is laid out is a matter of taste; what it says is not.
    const said: unknown = note.contentType === "application/yaml" ? parseYaml(text) : parse(text);
    return { status: response.status, ...note, body: said };
  }

  #body(body: unknown): string | Uint8Array | undefined {
    if (body === undefined) return undefined;
    if (typeof body === "string") return this.#fill(body) as string;
    const bytes = (body as { bytes?: unknown } | null)?.bytes;
    return typeof bytes === "string" ? Buffer.from(bytes, "base64") : JSON.stringify(this.#fill(body));
  }

  /** Puts variables in place of `$name`, in strings at any depth. */
  #fill(value: unknown): unknown {
    if (typeof value === "string")
      return value.replace(
        /\$(?:\{([A-Za-z][A-Za-z0-9]*)\}|([A-Za-z][A-Za-z0-9]*))/g,
        (all, braced: string | undefined, bare: string) => {
          const name = braced ?? bare;
          return this.#variables[name] ?? filler(name) ?? all;
        },
      );
    if (Array.isArray(value)) return value.map((item) => this.#fill(item));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [this.#fill(key), this.#fill(item)]));
  }
}

/** `$x300000` is that many letters. */
function filler(name: string): string | undefined {
  return /^x[0-9]+$/.test(name) ? "x".repeat(Number(name.slice(1))) : undefined;
}

function headersOfNote(headers: HeaderMap): Pick<Answer, "contentType" | "warnings" | "retryAfter"> {
  const retryAfter = headerOf(headers, "retry-after");
  return {
    contentType: headerOf(headers, "content-type") ?? "",
    warnings: headerValues(headers, "warning"),
    ...(retryAfter && { retryAfter }),
  };
}

function splitRequest(text: string): [method: string, path: string] {
  const space = text.indexOf(" ");
  return [text.slice(0, space), text.slice(space + 1)];
}

function impersonation(as: unknown): HeaderMap {
  if (typeof as !== "string") return {};
  const [user, ...groups] = as.split(",").map((part) => part.trim());
  return { "impersonate-user": user!, ...(groups.length > 0 && { "impersonate-group": groups }) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function nameOf(event: unknown): unknown {
  return valueAt(event, ".object.metadata.name");
}

/** `.metadata.ownerReferences[0].uid`, `.status.conditions[type=Ready].status`: names, indexes, and items by a field. */
export function valueAt(value: unknown, path: string): unknown {
  let at = value;
  for (const [, field, wanted, index, name] of path.matchAll(
    /\[([A-Za-z]+)=([^\]]+)\]|\[(\d+)\]|\.?([A-Za-z0-9_-]+)/g,
  )) {
    if (field === undefined) at = (at as Record<string, unknown> | undefined)?.[name ?? index!];
    else at = (at as Record<string, unknown>[] | undefined)?.find((item) => item[field] === wanted);
  }
  return at;
}
