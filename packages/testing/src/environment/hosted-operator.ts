import { TransportError } from "@konverge/client";
import {
  ApiError,
  type ApiRequest,
  type ApiResponse,
  type Clock,
  readText,
  sleep,
  type Transport,
} from "@konverge/core";
import type { Log } from "@konverge/runtime";
import { asProcess, type ExternalSystems } from "../external/external-system.ts";
import { Life } from "./life.ts";
import { ProcessExit } from "./process-exit.ts";
import type { LaunchedProcess, RunnableOperator, StartOperatorOptions } from "./runnable-operator.ts";
import type { FaultInjector, TestBackend } from "./test-backend.ts";
import type { RequestFault, RunningOperator } from "./test-environment.ts";

/** How often an operator is started that does not get so far as to work. */
const STARTS = 3;
/** How long one is started again whose failure can pass, in milliseconds. */
const CUT_OFF = 300_000;

/** What all operators of a test environment share. */
export interface Traffic {
  requests: number;
  writes: number;
  /** The writes that show progress. Events are written independently. */
  steps: number;
  fault: RequestFault | undefined;
}

/**
 * An operator in a test environment: one process after another. What one knew, the next does not.
 */
export class HostedOperator implements RunningOperator {
  readonly warnings: string[] = [];
  /** How processes ended that were not killed. */
  readonly exits: ProcessExit[] = [];
  readonly #operator: RunnableOperator;
  readonly #replica: number;
  readonly #backend: TestBackend;
  readonly #home: string;
  readonly #options: StartOperatorOptions;
  readonly #traffic: Traffic;
  readonly #faults: FaultInjector;
  readonly #systems: ExternalSystems;
  #life = new Life();
  #process: LaunchedProcess | undefined;
  #unregister: ((end?: { crashed: boolean }) => Promise<void>) | undefined;
  #starting = false;
  #stopping = false;
  #failure: unknown;
  #incarnations = 0;

  constructor(
    operator: RunnableOperator,
    place: {
      backend: TestBackend;
      home: string;
      replica: number;
      traffic: Traffic;
      faults: FaultInjector;
      systems: ExternalSystems;
    },
    options: StartOperatorOptions,
  ) {
    this.#operator = operator;
    this.#backend = place.backend;
    this.#home = place.home;
    this.#replica = place.replica;
    this.#traffic = place.traffic;
    this.#faults = place.faults;
    this.#systems = place.systems;
    this.#options = options;
  }

  /** Why a process could not be started again after a crash, if it could not. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Resolves when a process is at work. If it dies on the way, the next one is waited for. */
  restart(): Promise<void> {
    this.#stopping = false;
    return this.#backend.wait(this.#live());
  }

  crash(): void {
    this.#life.end();
    this.#process?.kill();
    this.#process = undefined;
    // Its port is closed with it, or this process would never end.
    this.#unregister?.({ crashed: true }).catch(() => {});
  }

  async stop(): Promise<void> {
    const process = this.#process;
    this.#process = undefined;
    this.#stopping = true;
    // A process that is killed while it stops never reports that it has stopped, and is not started again.
    if (process) await this.#backend.wait(Promise.race([process.stop(), deathOf(this.#life)]));
    if (this.#unregister) await this.#backend.wait(this.#unregister());
    this.#life.end();
    process?.kill();
  }

  async metrics(): Promise<string> {
    if (!this.#process) throw new Error(`${this.#operator.name} does not run`);
    return this.#process.metrics();
  }

  async #live(): Promise<void> {
    this.#starting = true;
    const { clock } = this.#backend;
    const began = clock.monotonic();
    try {
      for (let failures = 0, starts = 0; ; ) {
        this.#life = new Life();
        try {
          const life = this.#life;
          this.#incarnations++;
          await asProcess(this.#systems, life, this.#caller(life), () => this.#incarnate(life));
          if (!this.#life.over) return;
        } catch (error) {
          // A process that cannot start ends, and is restarted.
          if (error instanceof ProcessExit) this.#noteExit(error);
          if (!(isTransient(error) && clock.monotonic() - began < CUT_OFF) && ++failures === STARTS) throw error;
          this.crash();
          await sleep(clock, Math.min(++starts, 10) * 1000);
        }
      }
    } finally {
      this.#starting = false;
    }
  }

  async #incarnate(life: Life): Promise<void> {
    const { name } = this.#operator;
    const home = this.#home;
    const reached = await this.#backend.connect({ name, namespace: home });
    const options = {
      transport: this.#dying(life, life.transport(this.#interposed(life, this.#observed(reached)))),
      clock: life.clock(this.#skewed(this.#backend.clock)),
      home,
      log: this.#log(),
      number: this.#incarnations,
      replica: this.#replica,
      seed: this.#backend.seed ?? 1,
      exited: (error: unknown) => this.#exited(life, error),
      ...this.#options,
    };
    const process = this.#operator.launch(options);
    this.#process = process;
    const { webhooks, client, answer } = process;
    if (answer) {
      this.#backend.listeners?.add(answer);
      life.onEnd(() => this.#backend.listeners?.delete(answer));
    }
    const work = async () => {
      if (webhooks) this.#unregister = await this.#backend.register({ name, home, webhooks, client });
      await process.start();
    };
    await Promise.race([work(), deathOf(life)]);
  }

  #interposed(life: Life, transport: Transport): Transport {
    return this.#faults.interpose?.(transport, this.#caller(life)) ?? transport;
  }

  #caller(life: Life): { readonly number: number; crash(downMs?: number): void } {
    const number = this.#incarnations;
    const crash = (downMs = 0) => {
      if (life.over) return;
      this.crash();
      if (downMs > 0) this.#backend.clock.after(downMs, () => this.#liveAgain());
      else this.#liveAgain();
    };
    return { number, crash };
  }

  #skewed(clock: Clock): Clock {
    const { skew } = this.#faults;
    if (!skew) return clock;
    return {
      now: () => clock.now() + skew(),
      monotonic: () => clock.monotonic(),
      after: (ms, task, options) => clock.after(ms, task, options),
      post: (task, label) => clock.post(task, label),
      random: clock.random,
      secrets: clock.secrets,
    };
  }

  /** A process that ends is started again, after longer and longer waits, as a kubelet does. */
  #exited(life: Life, error: unknown): void {
    if (life.over) return;
    this.#noteExit(error);
    this.crash();
    this.#backend.clock.after(Math.min(1000 * 2 ** (this.exits.length - 1), 300_000), () => this.#liveAgain());
  }

  #noteExit(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.warnings.push(`the process ended: ${message}`);
    this.exits.push(error instanceof ProcessExit ? error : new ProcessExit(1, message));
  }

  #liveAgain(): void {
    // While a start is in progress, it continues with the next process.
    if (this.#starting || this.#stopping) return;
    this.#live().catch((error: unknown) => {
      this.#failure = error;
    });
  }

  /** Ends the life at the write that the fault injector has chosen. The next one is started at once. */
  #dying(life: Life, transport: Transport): Transport {
    const faults = this.#faults;
    if (!faults.crashAt) return transport;
    return async (request) => {
      const how = isStep(request) ? faults.crashAt?.(this.#traffic.steps + 1) : undefined;
      const answer = await transport(request);
      if (!how || life.over) return answer;
      this.crash();
      this.#liveAgain();
      return how === "after the answer" ? answer : new Promise<ApiResponse>(() => {});
    };
  }

  #observed(inner: Transport): Transport {
    const reached = this.#faults.around?.(inner) ?? inner;
    return async (request) => {
      if (!isRoutine(request)) this.#traffic.requests++;
      if (isWrite(request)) this.#traffic.writes++;
      const step = isStep(request) ? ++this.#traffic.steps : undefined;
      const { fault } = this.#traffic;
      const answer = await (fault ? fault(request, reached) : reached(request));
      if (step !== undefined) await this.#faults.afterWrite?.(step);
      if (answer.status === 403 && this.#faults.denied) {
        const body = await readText(answer.body);
        // Quotas and admission refuse with the same status; only missing permissions are worded like this.
        if (/ cannot [a-z]+ resource /.test(body)) this.#faults.denied(body);
        return { ...answer, body };
      }
      return answer;
    };
  }

  #log(): Log {
    const complain = (fields: object, message: string) => {
      const { err } = fields as { err?: unknown };
      this.warnings.push(err === undefined ? message : `${message}: ${err instanceof Error ? err.message : err}`);
    };
    const log: Log = { debug() {}, info() {}, warn: complain, error: complain, child: () => log };
    return log;
  }
}

const deathOf = (life: Life) => new Promise<void>((resolve) => life.onEnd(resolve));

/** Whether the API server cannot be reached, or fails for another reason: a webhook that does not answer, for instance. */
function isOutage(error: unknown): boolean {
  return error instanceof TransportError || (error instanceof ApiError && error.code >= 500);
}

/** An operator that cannot reach the API server, whose writes a quota or a policy refuses, or that ended because of that. */
function isTransient(error: unknown): boolean {
  if (error instanceof ProcessExit || isOutage(error)) return true;
  return error instanceof ApiError && /exceeded quota|denied the request/.test(error.message);
}

/** Leases are renewed, and the registration of webhooks is checked, forever. */
function isRoutine({ method, path }: ApiRequest): boolean {
  if (path.includes("/leases")) return true;
  return method === "GET" && /\/(?:\w+webhookconfigurations|customresourcedefinitions)\/[^/?]+$/.test(path);
}

/** A request that changes something, other than a lease; asking whether one may is no change either. */
function isChange({ method, path }: ApiRequest): boolean {
  return method !== "GET" && !path.includes("/leases") && !path.includes("selfsubject");
}

/** A change that is the operator's work. Telling the API server where webhooks are belongs to its start. */
function isWrite(request: ApiRequest): boolean {
  return isChange(request) && !request.path.includes("webhookconfigurations/");
}

/** A change after which a crash can matter. */
function isStep(request: ApiRequest): boolean {
  return isChange(request) && !request.path.includes("/events");
}
