import { ConnectionReset, type Front, requestInfo } from "@konverge/apiserver";
import type { Clock, Transport } from "@konverge/core";
import type { FaultPlane } from "../explorer/fault-plane.ts";

const ROUTINE_GROUPS = new Set([
  "coordination.k8s.io",
  "events.k8s.io",
  "authentication.k8s.io",
  "authorization.k8s.io",
]);

/**
 * Stands between the explored program and the API server: what concerns the program's work goes through the fault plane, and
 * routine (leases, events, discovery, access reviews) past it. Bodies pass through untouched.
 *
 * Guarantees: from {@link stopped} until {@link started} no request of the program has any effect.
 */
export class ProgramProxy {
  readonly #clock: Clock;
  readonly #plane: FaultPlane;
  /** Paths of the leases that the program has written. */
  readonly leases = new Set<string>();
  /** The program has one identity: whichever connection a request came by, it is passed on in the same name. */
  #next: Transport = () => Promise.reject(new ConnectionReset());
  #way: Transport | undefined;
  #isConnected = false;
  /** How many watches of each resource are open, of those that the running process has watched. */
  #watches = new Map<string, number>();
  #underway = 0;
  #lastActivity: number;
  #lastWrite: number;
  #writes = 0;

  constructor(plane: FaultPlane, clock: Clock) {
    this.#plane = plane;
    this.#clock = clock;
    this.#lastActivity = clock.monotonic();
    this.#lastWrite = this.#lastActivity;
  }

  /** Whether the running process has sent a request that is not routine. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** Whether everything is watched that the running process has watched before. */
  get isWatching(): boolean {
    return [...this.#watches.values()].every((open) => open > 0);
  }

  /** How long nothing but routine was sent or delivered, in milliseconds; 0 while a request is in progress. */
  get idleFor(): number {
    return this.#underway > 0 ? 0 : this.#clock.monotonic() - this.#lastActivity;
  }

  /** How long the program has written nothing, in milliseconds. */
  get noWriteFor(): number {
    return this.#clock.monotonic() - this.#lastWrite;
  }

  get writes(): number {
    return this.#writes;
  }

  /** A process of the program has been started: its requests are answered. */
  started(number: number, crash: (downMs?: number) => void): void {
    this.#isConnected = false;
    this.#watches = new Map();
    this.#way = this.#plane.interpose((request) => this.#next(request), { number, crash });
  }

  /** The process is gone, or about to be. */
  stopped(): void {
    this.#isConnected = false;
    this.#way = undefined;
  }

  /** Every request of the program comes through here. */
  readonly front: Front = async (request, next) => {
    const way = this.#way;
    if (!way) throw new ConnectionReset("the program is not running");
    const { isResource, group, resource, verb, path } = requestInfo(request);
    if (resource === "leases" && (verb === "update" || verb === "patch")) this.leases.add(path);
    if (!isResource || ROUTINE_GROUPS.has(group) || (group === "" && resource === "events")) return next(request);
    this.#next = next;
    // Until now it was starting, not idle.
    if (!this.#isConnected) this.#lastWrite = this.#clock.monotonic();
    this.#isConnected = true;
    const isWrite = request.method !== "GET";
    if (isWrite) this.#writes++;
    this.#underway++;
    try {
      const response = await orGone(way(request), request.signal);
      if (this.#way !== way) throw new ConnectionReset("the program was killed");
      if (verb !== "watch" || typeof response.body === "string" || response.body instanceof Uint8Array) return response;
      return { ...response, body: this.#events(response.body, `${group}/${resource}`, this.#watches) };
    } catch (error) {
      throw asReset(error);
    } finally {
      this.#underway--;
      this.#lastActivity = this.#clock.monotonic();
      if (isWrite) this.#lastWrite = this.#lastActivity;
    }
  };

  /** Events count as activity. */
  async *#events(
    body: AsyncIterable<string | Uint8Array>,
    resource: string,
    watches: Map<string, number>,
  ): AsyncGenerator<string | Uint8Array> {
    const count = (change: number) => watches.set(resource, (watches.get(resource) ?? 0) + change);
    count(1);
    try {
      for await (const chunk of body) {
        this.#lastActivity = this.#clock.monotonic();
        yield chunk;
      }
    } catch (error) {
      throw asReset(error);
    } finally {
      count(-1);
      this.#lastActivity = this.#clock.monotonic();
    }
  }
}

/** A process that was killed waits for nothing: without its connection, what it asked for is abandoned. */
function orGone<T>(answer: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return answer;
  const gone = Promise.withResolvers<never>();
  const abort = () => gone.reject(new ConnectionReset("the client is gone"));
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort);
  return Promise.race([answer, gone.promise]).finally(() => signal.removeEventListener("abort", abort));
}

/** A connection that a fault cuts is cut on the network as well. */
function asReset(error: unknown): unknown {
  return (error as { code?: string }).code === "ECONNRESET" ? new ConnectionReset("a fault") : error;
}
