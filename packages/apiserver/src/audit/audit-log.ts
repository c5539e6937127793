/**
 * The audit log: who asked for what, when, and how it ended, as lines of JSON in the form that Kubernetes' tools read
 * (`audit.k8s.io/v1` events). A policy says how much is written of which requests; bodies, and with them Secrets, only
 * appear where a rule asks for level Request or RequestResponse.
 */
import { isIP } from "node:net";
import {
  type ApiRequest,
  type ApiResponse,
  type Clock,
  headerOf,
  microTimestamp,
  parseJson,
  type StatusObject,
  stringifyJson,
} from "@konverge/core";
import { attributesOf } from "../auth/attributes.ts";
import type { Peer } from "../auth/peer.ts";
import type { User } from "../auth/user.ts";
import type { RequestInfo } from "../http/request-info.ts";
import { type AuditEvent, auditUser, type ObjectReference, withoutManagedFields } from "./event.ts";
import { type AuditDecision, type AuditPolicy, type AuditStage, auditDecision, isAtLeast } from "./policy.ts";

/** What is written, and where to. */
export interface AuditLogOptions {
  policy: AuditPolicy;
  /** Takes one line, line feed included: a stream, or anything with `write`. */
  sink: { write(line: string): unknown };
  clock: Clock;
}

/** Whose request it is: undefined when authentication failed. */
export interface AuditedBy {
  readonly user: User | undefined;
  readonly peer: Peer;
}

/**
 * Writes the audit log, as far as a policy requires it.
 *
 * Flow: {@link begin} once the request is authenticated (`stage: RequestReceived`); the server adds details to the returned
 * {@link AuditedRequest}; {@link AuditedRequest.finish} takes the response and returns it, and writes the event with the last
 * `stage` when the response is complete (for a stream: when it ends, or is abandoned).
 */
export class AuditLog {
  readonly #options: AuditLogOptions;

  constructor(options: AuditLogOptions) {
    this.#options = options;
  }

  begin(request: ApiRequest, info: RequestInfo, { user, peer }: AuditedBy): AuditedRequest | undefined {
    const { policy, sink, clock } = this.#options;
    const decision = auditDecision(policy, user, attributesOf(info));
    if (decision.level === "None") return undefined;
    const now = microTimestamp(clock);
    const event: AuditEvent = {
      kind: "Event",
      apiVersion: "audit.k8s.io/v1",
      level: decision.level,
      auditID: headerOf(request.headers, "audit-id") || clock.random.uuid(),
      stage: "RequestReceived",
      requestURI: request.path,
      verb: info.verb,
      user: user ? auditUser(user) : {},
      ...optional("sourceIPs", sourceAddresses(request, peer)),
      ...optional("userAgent", userAgent(request)),
      ...(info.isResource && { objectRef: objectReference(info) }),
      requestReceivedTimestamp: now,
      stageTimestamp: now,
    };
    const write = (stage: AuditStage) => {
      if (decision.omitStages.has(stage)) return;
      const stageTimestamp = stage === "RequestReceived" ? now : microTimestamp(clock);
      sink.write(`${stringifyJson({ ...event, stage, stageTimestamp })}\n`);
    };
    if (user) write("RequestReceived");
    return new AuditedRequest(request, info, decision, event, write);
  }
}

/** One request on its way into the log. */
export class AuditedRequest {
  #request: ApiRequest;
  readonly #info: RequestInfo;
  readonly #decision: AuditDecision;
  readonly #event: AuditEvent;
  readonly #write: (stage: AuditStage) => void;
  #object: unknown;
  #allowed = false;

  constructor(
    request: ApiRequest,
    info: RequestInfo,
    decision: AuditDecision,
    event: AuditEvent,
    write: (stage: AuditStage) => void,
  ) {
    this.#request = request;
    this.#info = info;
    this.#decision = decision;
    this.#event = event;
    this.#write = write;
  }

  /** What the answer's Audit-Id header says. */
  get id(): string {
    return this.#event.auditID;
  }

  impersonating(user: User, constraint: string): void {
    this.#event.impersonatedUser = auditUser(user);
    if (constraint !== "") this.#event.authenticationMetadata = { impersonationConstraint: constraint };
  }

  /** The body of a request that was refused is not even read, and so not kept. */
  authorized(allowed: boolean, reason: string): void {
    this.#allowed = allowed;
    this.annotate("authorization.k8s.io/decision", allowed ? "allow" : "forbid");
    this.annotate("authorization.k8s.io/reason", reason);
  }

  /** The request, once its body has been read. */
  received(request: ApiRequest): void {
    this.#request = request;
  }

  annotate(key: string, value: string): void {
    this.#event.annotations = { ...this.#event.annotations, [key]: value };
  }

  /** The request's object as the server decoded it; without this, a JSON body speaks for itself. */
  requestObject(object: unknown): void {
    this.#object = object;
  }

  /** The answer as it is given, watched to its end. */
  finish(response: ApiResponse): ApiResponse {
    this.#noteRequestBody();
    const { body, status } = response;
    if (!this.#event.user.username) {
      // Authentication failed: there is only this event, and the real server sets this `stage`.
      this.#noteAnswer(response);
      this.#write("ResponseStarted");
      return response;
    }
    if (typeof body === "string" || body instanceof Uint8Array) {
      this.#noteAnswer(response);
      if (response.socket) this.#write("ResponseStarted");
      this.#write("ResponseComplete");
      return response;
    }
    this.#event.responseStatus = { metadata: {}, code: status };
    if (isLongRunning(this.#info)) this.#write("ResponseStarted");
    return { ...response, body: this.#watched(body) };
  }

  /** The server itself failed. */
  panic(error: unknown): void {
    this.#noteRequestBody();
    this.#event.responseStatus = {
      metadata: {},
      status: "Failure",
      reason: "InternalError",
      message: `APIServer panic'd: ${error instanceof Error ? error.message : String(error)}`,
      code: 500,
    };
    this.#write("Panic");
  }

  async *#watched(chunks: AsyncIterable<string | Uint8Array>): AsyncGenerator<string | Uint8Array> {
    try {
      yield* chunks;
    } finally {
      this.#write("ResponseComplete");
    }
  }

  #noteRequestBody(): void {
    if (!this.#allowed) return;
    const { verb, name } = this.#info;
    const wantsBody = isAtLeast(this.#decision.level, "Request");
    if (!wantsBody && (verb !== "create" || name !== "")) return;
    const object = this.#object ?? jsonBody(this.#request.body, headerOf(this.#request.headers, "content-type"));
    if (object === undefined) return;
    if (wantsBody) this.#event.requestObject = this.#decision.omitManagedFields ? withoutManagedFields(object) : object;
    if (this.#event.objectRef && verb !== "patch") nameFrom(this.#event.objectRef, object);
  }

  #noteAnswer({ status, headers, body }: ApiResponse): void {
    this.#event.responseStatus = { metadata: {}, code: status };
    const isWhole = typeof body === "string" || body instanceof Uint8Array;
    const wantsBody = isAtLeast(this.#decision.level, "RequestResponse");
    if (!isWhole || (!wantsBody && status < 400 && !startsAsStatus(body))) return;
    const object = jsonBody(body, headerOf(headers, "content-type"));
    if (isKind(object, "Status")) {
      const { kind: _, apiVersion: __, ...rest } = object as StatusObject;
      this.#event.responseStatus = { ...rest, code: status };
    }
    // Documents that are no API objects (/version) are not kept.
    if (!wantsBody || !isKind(object)) return;
    this.#event.responseObject = this.#decision.omitManagedFields ? withoutManagedFields(object) : object;
  }
}

/** Requests whose answer is a stream for as long as the client likes. */
export function isLongRunning({ isResource, verb, subresource }: RequestInfo): boolean {
  return isResource && (verb === "watch" || ["attach", "exec", "log", "portforward", "proxy"].includes(subresource));
}

function objectReference(info: RequestInfo): ObjectReference {
  const { resource, namespace, name, group, subresource } = attributesOf(info);
  return {
    resource,
    ...optional("namespace", namespace),
    ...optional("name", name),
    ...optional("apiGroup", group),
    apiVersion: info.version,
    ...optional("subresource", subresource),
  };
}

/** What the request's path does not say about the object, its body may. */
function nameFrom(reference: ObjectReference, object: unknown): void {
  const metadata = (object as { metadata?: Record<string, unknown> } | null)?.metadata;
  for (const field of ["namespace", "name", "uid", "resourceVersion"] as const) {
    const value = metadata?.[field];
    if (!reference[field] && typeof value === "string" && value !== "") reference[field] = value;
  }
}

function jsonBody(body: ApiResponse["body"] | undefined, type = ""): unknown {
  if (!/^application\/(json|[a-z-]+\+json)/.test(type) || body === undefined) return undefined;
  const text = typeof body === "string" ? body : body instanceof Uint8Array ? Buffer.from(body).toString() : "";
  try {
    return text === "" ? undefined : parseJson(text);
  } catch {
    return undefined;
  }
}

function isKind(object: unknown, wanted?: string): boolean {
  const kind = (object as { kind?: unknown } | null | undefined)?.kind;
  return wanted === undefined ? typeof kind === "string" : kind === wanted;
}

function startsAsStatus(body: string | Uint8Array): boolean {
  return (typeof body === "string" ? body : Buffer.from(body.subarray(0, 40)).toString()).startsWith(
    '{"kind":"Status"',
  );
}

function userAgent({ headers }: ApiRequest): string {
  const agent = headerOf(headers, "user-agent") ?? "";
  return agent.length > 1024 ? `${agent.slice(0, 1024)}...TRUNCATED` : agent;
}

/** Where the request came from, by what proxies say, and in the end by the connection itself. */
function sourceAddresses({ headers }: ApiRequest, { address }: Peer): string[] {
  const said = (header: string) => (headerOf(headers, header) ?? "").split(",").map((part) => part.trim());
  const forwarded = said("x-forwarded-for").filter((part) => isIP(part) !== 0);
  const known = new Set(forwarded);
  const others = said("x-real-ip").filter((part) => isIP(part) !== 0 && !known.has(part));
  const addresses = [...forwarded, ...new Set(others)];
  if (address !== "" && addresses.at(-1) !== address) addresses.push(address);
  return addresses;
}

function optional<K extends string, V extends string | readonly unknown[]>(key: K, value: V): { [P in K]?: V } {
  return (value.length > 0 ? { [key]: value } : {}) as { [P in K]?: V };
}
