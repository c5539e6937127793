import { createHash } from "node:crypto";
import { type BackoffLimits, backoffAfter, type KindRef, type KubeObject, stringifyJson } from "@konverge/core";
import type { ReconcileContext } from "../definition/definition.ts";
import { ExternalError, PermanentError } from "../errors.ts";
import { KeptAnnotation } from "./kept-annotation.ts";

/** The second argument of a step's `run`. */
export interface DurableStepContext extends ReconcileContext {
  /** 1 for the first try. */
  readonly attempt: number;
  /** The results of earlier steps, by name. */
  readonly outputs: Readonly<Record<string, unknown>>;
}

/** One of several steps that run in order. */
export interface DurableStep<T extends KubeObject> {
  /**
   * The work. Its result is stored, so it must be JSON. It can run again after it succeeded, if the process ended
   * before the result was stored.
   */
  run(object: T, context: DurableStepContext): Promise<unknown>;
  /** How often it is retried after a failure. Default: forever. An attempt that a crash interrupted counts. */
  retries?: number;
  /** Milliseconds since the first attempt after which it is not retried. Default: none. */
  timeout?: number;
  backoff?: Partial<BackoffLimits>;
}

export interface DurableStepsOptions<T extends KubeObject> {
  /** One word that distinguishes these steps from others: part of the annotation's name. */
  name: string;
  /** The steps by name, in this order. */
  sequence: Readonly<Record<string, DurableStep<T> | DurableStep<T>["run"]>>;
  /** When the returned value changes, all steps run again: `({ spec }) => spec.version`. Default: never. */
  basis?: (object: T) => unknown;
}

/** The progress of a step. */
export interface DurableStepState {
  readonly state: "trying" | "done" | "failed";
  readonly attempts: number;
  /** When it was first attempted, and when it is retried. */
  readonly since?: string;
  readonly next?: string;
  readonly output?: unknown;
  /** Why the last attempt failed: a reason and a message. */
  readonly reason?: string;
  readonly error?: string;
}

/** The progress of the steps, by name. Steps that have not started are missing. */
export type DurableStepsProgress = Readonly<Record<string, DurableStepState>>;

/** Made by {@link durableSteps}: called from `reconcile`. */
export interface DurableSteps<T extends KubeObject> {
  /**
   * Continues after the last finished step. Resolves with the results of the steps when all are done; otherwise throws
   * an ExternalError, which requeues the object, or a PermanentError if a step has failed and is not retried.
   */
  run(object: T, context: ReconcileContext): Promise<Readonly<Record<string, unknown>>>;
  progress(object: T): DurableStepsProgress;
}

interface Kept {
  readonly basis?: string;
  readonly steps: DurableStepsProgress;
}

const RETRYING = "StepRetrying";
const BACKOFF: BackoffLimits = { initial: 1_000, longest: 300_000 };

/**
 * Runs steps one after the other, each once, with progress that survives restarts:
 *
 * ```ts
 * const setup = durableSteps(Database, {
 *   name: "setup",
 *   sequence: {
 *     schema: { run: createSchema, retries: 5, timeout: 600_000 },
 *     users: createUsers,
 *   },
 * });
 *
 * reconcile: async (database, context) => {
 *   await setup.run(database, context);
 *   return { conditions: { Ready: conditionTrue("SetUp") } };
 * }
 * ```
 *
 * Guarantees
 * - A step starts only when the one before it is stored as done, in an annotation of the object.
 * - A step that is stored as done does not run again until the basis changes.
 * - With `retries` or `timeout` an attempt is counted before it starts, so an attempt that crashes the process also
 *   counts.
 */
export function durableSteps<T extends KubeObject>(kind: KindRef<T>, options: DurableStepsOptions<T>): DurableSteps<T> {
  const kept = new KeptAnnotation<Kept>(kind as KindRef<KubeObject>, `steps-${options.name}`);
  const basisOf = (object: T) => {
    const basis = options.basis?.(object);
    return basis === undefined ? undefined : createHash("sha1").update(stringifyJson(basis)).digest("base64");
  };
  const progress = (object: T): DurableStepsProgress => {
    const known = kept.read(object);
    return known && known.basis === basisOf(object) ? known.steps : {};
  };
  return {
    progress,
    async run(object, context) {
      const basis = basisOf(object);
      let states = progress(object);
      const note = async (name: string, state: DurableStepState) => {
        states = { ...states, [name]: state };
        await kept.write(object, { ...(basis !== undefined && { basis }), steps: states }, context);
      };
      for (const [name, given] of Object.entries(options.sequence)) {
        const step = typeof given === "function" ? { run: given } : given;
        const state = states[name];
        if (state?.state === "done") continue;
        await take({
          name,
          step,
          object,
          context,
          state,
          outputs: outputsOf(states),
          note: (next) => note(name, next),
        });
      }
      return outputsOf(states);
    },
  };
}

interface Turn<T extends KubeObject> {
  name: string;
  step: DurableStep<T>;
  object: T;
  context: ReconcileContext;
  state: DurableStepState | undefined;
  outputs: Readonly<Record<string, unknown>>;
  note: (state: DurableStepState) => Promise<void>;
}

/** Takes a step, or throws. */
async function take<T extends KubeObject>(turn: Turn<T>): Promise<void> {
  const { name, step, context, state, note } = turn;
  const { clock } = context;
  if (state?.state === "failed") throw failed(name, state);
  const wait = state?.next === undefined ? 0 : Date.parse(state.next) - clock.now();
  if (wait > 0) throw later(name, state!, wait);
  const since = state?.since ?? new Date(clock.now()).toISOString();
  const attempts = (state?.attempts ?? 0) + 1;
  const left = step.timeout === undefined ? undefined : Date.parse(since) + step.timeout - clock.now();
  const fail = async (error: string, made: number): Promise<never> => {
    const end: DurableStepState = { state: "failed", attempts: made, since, error };
    await note(end);
    throw failed(name, end);
  };
  if (left !== undefined && left <= 0) await fail(state?.error ?? "it has taken too long", attempts - 1);
  if (step.retries !== undefined && attempts > step.retries + 1) {
    await fail(state?.error ?? "its last attempt was interrupted", attempts - 1);
  }
  if (step.retries !== undefined || step.timeout !== undefined) await note({ state: "trying", attempts, since });
  let output: unknown;
  try {
    output = await tried(turn, attempts, left);
  } catch (error) {
    if (context.signal.aborted) throw error;
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof PermanentError) await fail(message, attempts);
    // What is not there yet is no failure of the step.
    const isLater = error instanceof ExternalError;
    if (!isLater && step.retries !== undefined && attempts > step.retries) await fail(message, attempts);
    const after = isLater
      ? error.requeueAfter
      : backoffAfter(attempts - 1, { ...BACKOFF, ...step.backoff }, clock.random);
    const again: DurableStepState = {
      state: "trying",
      attempts: isLater ? attempts - 1 : attempts,
      since,
      next: new Date(clock.now() + after).toISOString(),
      reason: isLater ? error.reason : RETRYING,
      error: message,
    };
    await note(again);
    throw later(name, again, after);
  }
  await note({ state: "done", attempts, ...(output !== undefined && { output }) });
}

/** One try, whose signal also fires when the step's time is up. */
async function tried<T extends KubeObject>(turn: Turn<T>, attempt: number, left: number | undefined): Promise<unknown> {
  const { step, object, context, outputs, name } = turn;
  if (left === undefined) return await step.run(object, contextOf(context, context.signal));
  const late = new AbortController();
  const error = new Error(`step ${name} has timed out`);
  const timer = context.clock.after(left, () => late.abort(error), { label: `time-out of step ${name}` });
  const over = new Promise<never>((_, reject) => late.signal.addEventListener("abort", () => reject(error)));
  over.catch(() => {});
  try {
    const signal = AbortSignal.any([context.signal, late.signal]);
    return await Promise.race([step.run(object, contextOf(context, signal)), over]);
  } finally {
    timer.cancel();
  }

  function contextOf(base: ReconcileContext, signal: AbortSignal): DurableStepContext {
    const own = { signal: { value: signal }, attempt: { value: attempt }, outputs: { value: outputs } };
    return Object.create(base, own) as DurableStepContext;
  }
}

/** What is reported until the next try. */
function later(name: string, { reason = RETRYING, error, attempts }: DurableStepState, after: number): ExternalError {
  const text = reason === RETRYING ? `step ${name} failed on attempt ${attempts}: ${error}` : `step ${name}: ${error}`;
  return new ExternalError(reason, text, { requeueAfter: after });
}

function failed(name: string, { attempts, error }: DurableStepState): PermanentError {
  const tries = attempts === 1 ? "1 try" : `${attempts} tries`;
  return new PermanentError("StepFailed", `step ${name} has failed for good, after ${tries}: ${error}`);
}

function outputsOf(states: DurableStepsProgress): Record<string, unknown> {
  const done = Object.entries(states).filter(([, { state, output }]) => state === "done" && output !== undefined);
  return Object.fromEntries(done.map(([name, { output }]) => [name, output]));
}
