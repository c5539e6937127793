import { type ApiRequest, type ApiResponse, readText, type Transport } from "@konverge/core";
import { differing, type JsonDifference, type RequestTarget, targetOf } from "@konverge/runtime";

/** A write that would have been made. */
export interface PlannedWrite {
  readonly verb: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
  /** What would change in the object: JSON pointers. Nothing is known where there is no object yet. */
  readonly changes?: readonly JsonDifference[];
  /** Why the server would refuse it. */
  readonly error?: string;
}

/** What of an object every write changes. */
const BOOKKEEPING = ["managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"];
const SHOWN = 10;

/** Prints the writes of a client whose writes are dry runs, each one once. */
export class DryRunReport {
  readonly #output: "text" | "json";
  readonly #print: (line: string) => void;
  readonly #seen = new Set<string>();
  #count = 0;

  constructor(output: "text" | "json", print: (line: string) => void = (line) => console.log(line)) {
    this.#output = output;
    this.#print = print;
  }

  /** Stands between the client and the server. */
  transport(inner: Transport): Transport {
    return async (request) => {
      const target = /[?&]dryRun=All/.test(request.path) ? targetOf(request.path) : undefined;
      if (!target) return inner(request);
      const before = await current(inner, request, target);
      const answer = await inner(request);
      const body = await readText(answer.body);
      this.#note(request, target, before, answer, body);
      return { ...answer, body };
    };
  }

  /** All have been printed. */
  end(): void {
    if (this.#output === "json") return;
    this.#print(`${this.#count} ${this.#count === 1 ? "write" : "writes"} would be made; nothing was written.`);
  }

  #note(request: ApiRequest, target: RequestTarget, before: unknown, answer: ApiResponse, body: string): void {
    // What was not stored is tried again and again.
    const key = `${request.method} ${request.path.split("?")[0]} ${String(request.body)}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.#count++;
    const after = parsed(body);
    const error = answer.status < 300 ? undefined : String((after as { message?: string }).message ?? answer.status);
    const isChange = before !== undefined && !error && request.method !== "DELETE";
    const write: PlannedWrite = {
      verb: verbOf(request, target, before !== undefined),
      resource: target.group ? `${target.plural}.${target.group}` : target.plural,
      ...(target.namespace !== undefined && { namespace: target.namespace }),
      ...nameOf(target, after),
      ...(target.subresource !== undefined && { subresource: target.subresource }),
      ...(isChange && { changes: differing(withoutBookkeeping(before), withoutBookkeeping(after)) }),
      ...(error !== undefined && { error }),
    };
    for (const line of this.#output === "json" ? [JSON.stringify(write)] : linesOf(write)) this.#print(line);
  }
}

/** The object as it is now, for what a write would change in it. */
async function current(inner: Transport, { signal, headers }: ApiRequest, target: RequestTarget): Promise<unknown> {
  if (target.name === undefined) return undefined;
  const { group, version, namespace, plural, name } = target;
  const path = [
    group === "" ? `/api/${version}` : `/apis/${group}/${version}`,
    ...(namespace === undefined ? [] : ["namespaces", namespace]),
    plural,
    name,
  ].join("/");
  const { "content-type": _, "content-length": __, ...own } = headers;
  const answer = await inner({
    method: "GET",
    path,
    headers: { ...own, accept: "application/json" },
    ...(signal && { signal }),
  });
  const body = await readText(answer.body);
  return answer.status === 200 ? parsed(body) : undefined;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return {};
  }
}

function withoutBookkeeping(object: unknown): unknown {
  const { metadata = {}, ...rest } = object as { metadata?: Record<string, unknown> };
  const kept = Object.entries(metadata).filter(([name]) => !BOOKKEEPING.includes(name));
  return { ...rest, metadata: Object.fromEntries(kept) };
}

function verbOf({ method, headers }: ApiRequest, { name }: RequestTarget, exists: boolean): string {
  if (method === "DELETE") return name === undefined ? "delete all" : "delete";
  if (method === "POST") return "create";
  if (method === "PUT") return "update";
  const isApply = String(headers["content-type"] ?? "").includes("apply-patch");
  return isApply && !exists ? "create" : isApply ? "apply" : "patch";
}

function nameOf({ name }: RequestTarget, after: unknown): { name?: string } {
  const found = name ?? (after as { metadata?: { name?: string } }).metadata?.name;
  return found === undefined ? {} : { name: found };
}

function linesOf({ verb, resource, namespace, name = "", subresource, changes = [], error }: PlannedWrite): string[] {
  const what = `${verb} ${resource}${subresource ? `/${subresource}` : ""} ${namespace ? `${namespace}/` : ""}${name}`;
  const text = (value: unknown) => (value === undefined ? "nothing" : JSON.stringify(value));
  return [
    error === undefined ? what : `${what}: refused: ${error}`,
    ...changes.slice(0, SHOWN).map(({ path, before, after }) => `    ${path}: ${text(before)} → ${text(after)}`),
    ...(changes.length > SHOWN ? [`    and ${changes.length - SHOWN} more`] : []),
  ];
}
