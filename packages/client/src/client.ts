import {
  type Clock,
  type KindRef,
  type KubeObject,
  type ObjectKey,
  type ObjectMeta,
  realClock,
  type Transport,
} from "@konverge/core";
import type { UserInfo } from "@konverge/kinds";
import { Pod, ServiceAccount } from "@konverge/kinds/core.v1";
import {
  type AccessReviewQuery,
  type AccessReviewResult,
  type AccessReviewRules,
  issueToken,
  reviewAccess,
  reviewRules,
  reviewSelf,
  reviewToken,
  type ServiceAccountToken,
  type ServiceAccountTokenOptions,
  type TokenReviewResult,
} from "./access.ts";
import { Caller, type ClientRequest } from "./call.ts";
import { discover } from "./discovery/discover.ts";
import { RestMapper } from "./discovery/rest-mapper.ts";
import { dryRunTransport } from "./dry-run.ts";
import { type ImpersonatedUser, impersonatingTransport } from "./impersonation.ts";
import { ObjectVerbs } from "./object-verbs.ts";
import {
  type CallOptions,
  type DeleteOptions,
  deleteBody,
  encodeQuery,
  type WriteOptions,
  writeQuery,
} from "./options.ts";
import { RequestRateLimiter, type RequestRateLimitOptions } from "./rate-limit.ts";
import type { RetryOptions } from "./retry.ts";
import { type LogOptions, logLines, logQuery } from "./streams/logs.ts";
import { PORT_FORWARD_PROTOCOL, PortForward } from "./streams/port-forward.ts";
import { type AttachOptions, attachQuery, CHANNEL_PROTOCOLS, RemoteProcess } from "./streams/remote-process.ts";

export interface ClientOptions {
  /** Default: the machine's. */
  clock?: Clock;
  /** The namespace of keys without one. Default: `default`. */
  namespace?: string;
  /** The field manager of this client's writes. Default: `konverge`. */
  fieldManager?: string;
  /** The default of a call's `timeout`. Default: 65 s, a little more than the server's own limit. */
  timeout?: number;
  userAgent?: string;
  /** How requests are retried that are safe to retry; false: never. */
  retry?: RetryOptions | false;
  /** A rate limit for this client and those that `as` returns. Default: none, because servers protect themselves. */
  limit?: RequestRateLimitOptions | RequestRateLimiter;
  /** Sends every write as a dry run: the server validates it and returns the result, and stores nothing. */
  dryRun?: boolean;
  /** Called with the warnings in the server's responses. */
  onWarning?: (message: string) => void;
  /** Called by `close`, to close the transport's connections. */
  onClose?: () => Promise<void>;
}

/** The scale subresource of an object. */
export interface Scale extends KubeObject {
  metadata: ObjectMeta;
  spec: { replicas?: number };
  status?: { replicas: number; selector?: string };
}

/** A server's version, as it reports it. */
export interface ServerVersion {
  major: string;
  minor: string;
  gitVersion: string;
  gitCommit?: string;
  platform?: string;
}

/**
 * The verbs of the Kubernetes API, typed by kind. An object is named by its key: `"web"` in the client's own namespace,
 * `"prod/web"` in another, or `keyOf(object)`.
 *
 * ```ts
 * const web = await client.get(Deployment, "prod/web");
 * await client.patch(Deployment, "prod/web", { merge: { spec: { replicas: 3 } } });
 * ```
 */
export class Client extends ObjectVerbs {
  /** Finds kinds by name, for kinds that are known only at run time. */
  readonly mapper: RestMapper;
  /** Every write of this client is a dry run. */
  readonly dryRun: boolean;
  readonly #transport: Transport;
  readonly #options: ClientOptions;

  constructor(given: Transport, options: ClientOptions = {}) {
    const transport = options.dryRun ? dryRunTransport(given) : given;
    const clock = options.clock ?? realClock();
    const limit =
      options.limit &&
      (options.limit instanceof RequestRateLimiter ? options.limit : new RequestRateLimiter(clock, options.limit));
    const caller = new Caller(transport, {
      clock,
      timeout: options.timeout ?? 65_000,
      userAgent: options.userAgent ?? "konverge",
      ...(options.retry !== undefined && { retry: options.retry }),
      ...(limit && { limit }),
      ...(options.onWarning && { onWarning: options.onWarning }),
    });
    super({
      caller,
      namespace: options.namespace ?? "default",
      fieldManager: options.fieldManager ?? "konverge",
    });
    this.mapper = new RestMapper((callOptions) => discover(caller, callOptions));
    this.dryRun = options.dryRun ?? false;
    this.#transport = given;
    this.#options = { ...options, clock, ...(limit && { limit }) };
  }

  /** The same client as another user, by impersonation. */
  as(identity: ImpersonatedUser): Client {
    const { onClose: _, ...options } = this.#options;
    return new Client(impersonatingTransport(this.#transport, identity), options);
  }

  /** Closes the connections. Calls in progress fail. */
  async close(): Promise<void> {
    await this.#options.onClose?.();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Reads the scale subresource of an object. */
  async getScale(kind: KindRef<KubeObject>, key: ObjectKey, options: CallOptions = {}): Promise<Scale> {
    return this.caller.json({ method: "GET", path: this.pathOf(kind, key, "scale") }, options);
  }

  /** Sets the replicas of an object through its scale subresource. */
  async scale(kind: KindRef<KubeObject>, key: ObjectKey, replicas: number, options: WriteOptions = {}): Promise<Scale> {
    const call = {
      method: "PATCH",
      path: this.pathOf(kind, key, "scale") + encodeQuery(writeQuery(options, this.fieldManager)),
      contentType: "application/merge-patch+json",
      body: { spec: { replicas } },
    };
    return this.caller.json(call, options);
  }

  /** Deletes a pod unless a disruption budget forbids it (429 TooManyRequests). */
  async evict(key: ObjectKey, options: DeleteOptions = {}): Promise<void> {
    const path = this.pathOf(Pod, key, "eviction");
    const metadata = this.placeOf(Pod, key);
    const deleteOptions = deleteBody(options);
    const body = { apiVersion: "policy/v1", kind: "Eviction", metadata, ...(deleteOptions && { deleteOptions }) };
    await this.caller.text({ method: "POST", path, body }, options);
  }

  /** The lines of a container's log; with `follow`, also new ones as they are written. */
  async *logs(key: ObjectKey, options: LogOptions = {}): AsyncGenerator<string, void, void> {
    const path = this.pathOf(Pod, key, "log") + encodeQuery(logQuery(options));
    const leave = new AbortController();
    const signal = options.signal ? AbortSignal.any([options.signal, leave.signal]) : leave.signal;
    const response = await this.caller.open({ method: "GET", path, accept: "*/*" }, { ...options, signal });
    try {
      yield* logLines(response.body);
    } finally {
      leave.abort();
    }
  }

  /** Runs a command in a container. */
  async exec(key: ObjectKey, command: readonly string[], options: AttachOptions = {}): Promise<RemoteProcess> {
    const path = this.pathOf(Pod, key, "exec") + encodeQuery({ command, ...attachQuery(options) });
    return new RemoteProcess(await this.#socket(path, CHANNEL_PROTOCOLS, options));
  }

  /** Connects to the main process of a container. */
  async attach(key: ObjectKey, options: AttachOptions = {}): Promise<RemoteProcess> {
    const path = this.pathOf(Pod, key, "attach") + encodeQuery(attachQuery(options));
    return new RemoteProcess(await this.#socket(path, CHANNEL_PROTOCOLS, options));
  }

  /** Forwards connections to a pod's ports. */
  async portForward(key: ObjectKey, options: CallOptions = {}): Promise<PortForward> {
    return new PortForward(await this.#socket(this.pathOf(Pod, key, "portforward"), [PORT_FORWARD_PROTOCOL], options));
  }

  async #socket(path: string, upgrade: readonly string[], options: CallOptions) {
    const { socket } = await this.caller.open({ method: "GET", path, upgrade, accept: "*/*" }, options);
    if (!socket) throw new TypeError("the transport answered 101 without a message stream");
    return socket;
  }

  /** A token for a service account. */
  async requestToken(
    serviceAccount: ObjectKey,
    options: ServiceAccountTokenOptions = {},
  ): Promise<ServiceAccountToken> {
    return issueToken(this.caller, this.pathOf(ServiceAccount, serviceAccount, "token"), options);
  }

  /** Whether this client's user, or another user, is allowed to do something. */
  async canI(
    question: AccessReviewQuery,
    options: CallOptions & { who?: ImpersonatedUser } = {},
  ): Promise<AccessReviewResult> {
    return reviewAccess(this.caller, question, options.who, options);
  }

  /** The permissions of this client's user in a namespace. */
  async rulesIn(namespace: string, options: CallOptions = {}): Promise<AccessReviewRules> {
    return reviewRules(this.caller, namespace, options);
  }

  /** The user of this client, as the server authenticates it. */
  async whoAmI(options: CallOptions = {}): Promise<UserInfo> {
    return reviewSelf(this.caller, options);
  }

  /** Whether a token is valid, and its user. */
  async reviewToken(
    token: string,
    options: CallOptions & { audiences?: readonly string[] } = {},
  ): Promise<TokenReviewResult> {
    return reviewToken(this.caller, token, options.audiences, options);
  }

  async version(options: CallOptions = {}): Promise<ServerVersion> {
    return this.caller.json({ method: "GET", path: "/version" }, options);
  }

  /** Sends any other request; returns the body of the response as text. */
  async request(call: ClientRequest, options: CallOptions = {}): Promise<string> {
    return this.caller.text(call, options);
  }
}
