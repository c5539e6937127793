import { requestInfo, type StoredChange } from "@konverge/apiserver";
import type { Cluster } from "@konverge/cluster";
import { type AnyObject, type ApiRequest, type ApiResponse, readText, type Transport } from "@konverge/core";
import { comparableText } from "../explorer/end-state.ts";
import { differingFields } from "../explorer/field-differences.ts";
import { type ObjectName, resourceOf, stableKey } from "./stored-object.ts";

/** A write that changed an object. */
export interface EffectiveWrite extends ObjectName {
  /** Milliseconds since the operator was started. */
  readonly at: number;
  readonly type: "create" | "change" | "delete";
  readonly fields: readonly WrittenField[];
}

/** A field that a write changed; undefined: it is not there. */
export interface WrittenField {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** A write that the API server refused. */
export interface RefusedWrite extends ObjectName {
  readonly verb: string;
  readonly code: number;
  readonly message: string;
}

/** What is no part of the state that an operator works on. */
const ROUTINE = new Set(["events", "leases"]);
const ROUTINE_GROUPS = new Set(["authentication.k8s.io", "authorization.k8s.io"]);
/** It follows from other fields, or from where the operator runs. */
const DERIVED =
  /^status\.(conditions\[[^\]]*\]\.)?observedGeneration$|^(webhooks\[[^\]]*\]|spec\.conversion\.webhook)\.clientConfig\b/;

/**
 * Records what an operator does to a cluster: its requests by verb, and each write that changed something, by object and field.
 */
export class OperatorWrites {
  readonly effective: EffectiveWrite[] = [];
  readonly refused: RefusedWrite[] = [];
  readonly requests: Record<string, number> = {};
  readonly #refusals = new Set<string>();
  readonly #cluster: Cluster;
  readonly #ignored: string;
  readonly #most: number;
  readonly #started: number;

  /** `ignored`: the operator's own namespace. `most`: after this number of writes, the operator gets no more responses. */
  constructor(cluster: Cluster, options: { readonly ignored: string; readonly most: number }) {
    this.#cluster = cluster;
    this.#ignored = options.ignored;
    this.#most = options.most;
    this.#started = cluster.clock.monotonic();
  }

  /** Milliseconds since the operator was started. */
  get now(): number {
    return this.#cluster.clock.monotonic() - this.#started;
  }

  /** Whether the operator was stopped because it wrote without end. */
  get isHalted(): boolean {
    return this.effective.length + this.refused.length >= this.#most;
  }

  /** How many different writes were refused. */
  get refusals(): number {
    return this.#refusals.size;
  }

  get total(): number {
    return Object.values(this.requests).reduce((sum, one) => sum + one, 0);
  }

  /** Stands between the operator and the server. */
  transport(inner: Transport): Transport {
    return async (request) => {
      const info = requestInfo(request);
      if (!info.isResource || ROUTINE.has(info.resource) || ROUTINE_GROUPS.has(info.group)) return inner(request);
      if (this.isHalted) return new Promise<ApiResponse>(() => {});
      this.requests[info.verb] = (this.requests[info.verb] ?? 0) + 1;
      if (request.method === "GET" || info.namespace === this.#ignored || /[?&]dryRun=/.test(request.path))
        return inner(request);
      return this.#write(request, inner);
    };
  }

  async #write(request: ApiRequest, inner: Transport): Promise<ApiResponse> {
    const { group, version, resource, namespace, name, verb } = requestInfo(request);
    const { store, registry } = this.#cluster.server;
    const before = store.revision;
    const answer = await inner(request);
    const body = await readText(answer.body);
    const storage = registry.find(group, version, resource)?.definition.storage ?? `${group}/${resource}`;
    const of = { resource: resourceOf(storage) };
    const known = name ? (namespace ? `${namespace}/${name}` : name) : undefined;
    if (answer.status >= 400) {
      const { message = body } = parsed(body) as { message?: string };
      const refused = { ...of, key: known ?? "*", verb, code: answer.status, message };
      this.refused.push(refused);
      this.#refusals.add(JSON.stringify(refused));
      return { ...answer, body };
    }
    const { metadata } = parsed(body) as Partial<AnyObject>;
    const key = known ?? (metadata?.namespace ? `${metadata.namespace}/${metadata.name}` : metadata?.name);
    const isDeletion = request.method === "DELETE";
    const changes = (store.collection(storage).changesAfter(before) ?? []).filter((change) =>
      isDeletion
        ? (key === undefined || change.key === key) && isDeletionOf(change)
        : String(change.revision) === metadata?.resourceVersion,
    );
    for (const change of changes) this.#note(of.resource, change, isDeletion);
    return { ...answer, body };
  }

  #note(resource: string, { key, entry, previous, deleted }: StoredChange, isDeletion: boolean): void {
    const object = JSON.parse(entry.text) as AnyObject;
    const at = this.now;
    const name = { resource, key: stableKey(key, object) };
    if (isDeletion) {
      this.effective.push({ ...name, at, type: "delete", fields: [] });
      return;
    }
    const [was, is] = [previous && comparable(JSON.parse(previous.text) as AnyObject), comparable(object)];
    const fields = differingFields(was ?? {}, is)
      .map(({ path, expected, actual }) => ({ path, before: expected, after: actual }))
      .filter(({ path }) => !DERIVED.test(path));
    const type = deleted ? "delete" : previous ? "change" : "create";
    if (fields.length > 0 || type !== "change") this.effective.push({ ...name, at, type, fields });
  }
}

function comparable(object: AnyObject): unknown {
  return JSON.parse(comparableText(object));
}

function isDeletionOf({ deleted, entry, previous }: StoredChange): boolean {
  return deleted || (entry.text.includes('"deletionTimestamp"') && !previous?.text.includes('"deletionTimestamp"'));
}

function parsed(body: string): object {
  try {
    return JSON.parse(body) as object;
  } catch {
    // A body in protobuf: what was written is known by the name in the path alone.
    return {};
  }
}
