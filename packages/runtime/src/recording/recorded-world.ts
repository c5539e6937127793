import { Client, TransportError } from "@konverge/client";
import { ApiError, groupKindText, type KubeObject, keyOf, type ObjectKey, type VirtualClock } from "@konverge/core";
import type { LayeredCall } from "../calls/layered-call.ts";
import { layeredClient } from "../calls/layered-client.ts";
import { ExternalError, PermanentError } from "../errors.ts";
import type { NondeterministicInput } from "../observe/observer.ts";
import { asJson } from "./recorded-result.ts";
import type {
  RecordedAnswer,
  RecordedCall,
  RecordedError,
  RecordedQuery,
  RecordedReconcile,
  RecordedStep,
} from "./recording.ts";

/** A write that a reconciler made itself, through `client`. */
export interface RecordedWrite {
  /** `patch Deployment.apps/scale default/web`. */
  readonly what: string;
  readonly body: unknown;
}

type Step<S extends RecordedStep["step"]> = Extract<RecordedStep, { step: S }>;

/**
 * The world as a recorded reconcile saw it: answers to the questions that were asked then. A question that was not asked
 * then is answered from what else is known of the same reconcile, and noted.
 */
export class RecordedWorld {
  /** What was asked for that is not in the recording, and what was assumed. */
  readonly unrecorded: string[] = [];
  readonly writes: RecordedWrite[] = [];
  readonly #steps: readonly RecordedStep[];
  readonly #known = new Map<string, KubeObject | undefined>();
  readonly #turn = new Map<string, number>();
  readonly #draws = new Map<NondeterministicInput, (number | string)[]>();

  constructor({ steps }: RecordedReconcile) {
    this.#steps = steps;
    for (const step of steps) this.#learn(step);
  }

  /** An object that was read from the cache. */
  read(kind: GroupKind, key: ObjectKey): KubeObject | undefined {
    const id = idOf(kind, key);
    if (!this.#known.has(id)) this.#miss(`whether there is a ${groupKindText(kind)} ${key}`, "there is none");
    return this.#known.get(id);
  }

  /** Objects that were looked for in the cache. */
  list(query: Omit<RecordedQuery, "kind"> & { kind: GroupKind }): KubeObject[] {
    const wanted = queryText(query);
    const found = this.#of("list").find((step) => queryText(step.query) === wanted);
    if (found) return [...found.objects];
    const known = [...this.#known]
      .filter(([id, object]) => object && id.startsWith(`${groupKindText(query.kind)} `))
      .map(([, object]) => object!);
    const here = query.namespace ? known.filter(({ metadata }) => metadata.namespace === query.namespace) : known;
    this.#miss(`which ${wanted}`, `there are ${here.length}`);
    return here;
  }

  /** How something outside the cluster answered. */
  async outside(name: string): Promise<unknown> {
    const step = this.#next(
      `outside ${name}`,
      this.#of("external").filter((one) => one.name === name),
    );
    if (step) return answerOf(step);
    throw new Error(`${name} was not called when this was recorded, so there is no recorded response`);
  }

  /** The next of the times or random numbers that were given out; the last one forever. */
  draw<V extends number | string>(what: NondeterministicInput, otherwise: V): V {
    const left = this.#draws.get(what);
    if (!left || left.length === 0) return otherwise;
    return (left.length > 1 ? left.shift() : left[0]) as V;
  }

  /** A client that answers as the server did, and notes what is written. */
  client(fieldManager: string, clock: VirtualClock): Client {
    const refuse = (what: string) => Promise.reject(new TransportError("unreachable", what, { unknownOutcome: false }));
    const inner = new Client(({ method, path }) => refuse(`${method} ${path} cannot be replayed`), {
      clock,
      retry: false,
    });
    return layeredClient(inner, async (call) => (await this.#answer(call)) as never, fieldManager);
  }

  async #answer(call: LayeredCall): Promise<unknown> {
    const what = callText(call);
    const write = writeOf(call);
    if (write) this.writes.push(write);
    const step = this.#next(
      what,
      this.#of("call").filter((one) => callText(one.call) === what),
    );
    if (step) return answerOf(step);
    if (call.verb === "get") {
      const known = this.read(call.kind, call.key!);
      if (known) return known;
      const { group, plural } = call.kind;
      const details = { name: call.key!, group, kind: plural };
      throw new ApiError({ code: 404, reason: "NotFound", message: `${plural} "${call.key}" not found`, details });
    }
    if (call.verb === "list") {
      const namespace = call.namespace === undefined ? {} : { namespace: call.namespace };
      return { metadata: {}, items: this.list({ kind: call.kind, ...namespace }) };
    }
    return assumed(call);
  }

  /** Questions that were asked several times get their answers in order, and then the last one. */
  #next<S>(what: string, steps: readonly S[]): S | undefined {
    const turn = this.#turn.get(what) ?? 0;
    this.#turn.set(what, turn + 1);
    return steps[Math.min(turn, steps.length - 1)];
  }

  #of<S extends RecordedStep["step"]>(name: S): Step<S>[] {
    return this.#steps.filter((step): step is Step<S> => step.step === name);
  }

  #learn(step: RecordedStep): void {
    if (step.step === "read") this.#meet(step.kind, step.key, step.object ?? undefined);
    else if (step.step === "list") {
      for (const object of step.objects) this.#meet(step.query.kind, keyOf(object), object);
    } else if (step.step === "input") {
      const known = this.#draws.get(step.what);
      if (known) known.push(step.value);
      else this.#draws.set(step.what, [step.value]);
    }
  }

  /** What was seen first was seen before anything was written. */
  #meet(kind: GroupKind, key: ObjectKey, object: KubeObject | undefined): void {
    const id = idOf(kind, key);
    if (!this.#known.has(id)) this.#known.set(id, object);
  }

  #miss(what: string, assumption: string): void {
    const text = `it asks ${what}, which was not recorded: taken that ${assumption}`;
    if (!this.unrecorded.includes(text)) this.unrecorded.push(text);
  }
}

/** The write that a call amounts to; undefined if it only reads. */
export function writeOf(call: Omit<RecordedCall, "kind"> & { kind: GroupKind }): RecordedWrite | undefined {
  if (call.verb === "get" || call.verb === "list") return undefined;
  return { what: callText(call), body: asJson(call.body) };
}

type GroupKind = { readonly group: string; readonly kind: string };

const idOf = (kind: GroupKind, key: ObjectKey) => `${groupKindText(kind)} ${key}`;

function queryText({ kind, children, namespace, index, value }: Omit<RecordedQuery, "kind"> & { kind: GroupKind }) {
  const whose = children ? " are its children" : "";
  const where = namespace === undefined ? "" : ` in ${namespace}`;
  return `${groupKindText(kind)}${whose}${where}${index === undefined ? "" : ` have ${value} in index ${index}`}`;
}

function callText({
  verb,
  kind,
  key,
  namespace,
  subresource,
}: Omit<RecordedCall, "kind"> & { kind: GroupKind }): string {
  const what = `${groupKindText(kind)}${subresource ? `/${subresource}` : ""}`;
  const where = key ?? (namespace === undefined ? "" : `in ${namespace}`);
  return `${verb} ${what} ${where}`.trimEnd();
}

function answerOf({ answer, error }: RecordedAnswer): unknown {
  if (error) throw thrown(error);
  return answer === null ? undefined : answer;
}

/** What a server would answer to a write that was not made then. */
function assumed({ verb, kind, key, body }: LayeredCall): unknown {
  if (verb === "delete" || verb === "deletecollection") return undefined;
  const draft = (body ?? {}) as Partial<KubeObject>;
  const [name = "", namespace] = (key ?? "").split("/").reverse();
  const metadata = { name, ...(namespace && { namespace }), uid: "replayed", ...draft.metadata };
  return {
    apiVersion: kind.group === "" ? kind.version : `${kind.group}/${kind.version}`,
    kind: kind.kind,
    ...draft,
    metadata,
  };
}

/** An error of the class that was recorded. */
export function thrown({ name, message, reason = "", requeueAfter, status }: RecordedError): Error {
  if (name === "ApiError" && status) return new ApiError(status as ConstructorParameters<typeof ApiError>[0]);
  if (name === "PermanentError") return new PermanentError(reason, message);
  if (name === "ExternalError")
    return new ExternalError(reason, message, requeueAfter === undefined ? {} : { requeueAfter });
  if (name === "TransportError") return new TransportError("closed", message, { unknownOutcome: true });
  return Object.assign(new Error(message), { name });
}
