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
  /** The namespace of keys that name none. Default: `default`. */
  namespace?: string;
  /** Owns the fields this client writes. Default: `konverge`. */
  fieldManager?: string;
  /** Milliseconds a call may take when it does not say. Default: 65 s, just longer than a server's own limit. */
  timeout?: number;
  userAgent?: string;
  /** How requests are repeated that are safe to repeat; false: never. */
  retry?: RetryOptions | false;
  /** A limit on the requests of this client and of those made from it by `as`. Default: none, servers protect themselves. */
  limit?: RequestRateLimitOptions | RequestRateLimiter;
  /** Send every write as a dry run: the server checks it and answers what would come of it, and stores nothing. */
  dryRun?: boolean;
  /** Told the warnings that the server sends along with an answer. */
  onWarning?: (message: string) => void;
  /** Called by `close`: lets the transport's connections go. */
  onClose?: () => Promise<void>;
}

/** The size of something that can be scaled, whatever its kind. */
export interface Scale extends KubeObject {
  metadata: ObjectMeta;
  spec: { replicas?: number };
  status?: { replicas: number; selector?: string };
}

/** A server's version, as it tells it. */
export interface ServerVersion {
  major: string;
  minor: string;
  gitVersion: string;
  platform?: string;
}

/**
 * The verbs of the Kubernetes API, typed by kind. An object is named by its key: `"web"` in the client's own namespace,
 * `"prod/web"` in another, `keyOf(object)` for one at hand.
 *
 * ```ts
 * const web = await client.get(Deployment, "prod/web");
 * await client.patch(Deployment, "prod/web", { merge: { spec: { replicas: 3 } } });
 * ```
 */
export class Client extends ObjectVerbs {
  /** Kinds by name, for those known only at run time. */
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

  /** A client that does the same as another user, by impersonation. */
  as(identity: ImpersonatedUser): Client {
    const { onClose: _, ...options } = this.#options;
    return new Client(impersonatingTransport(this.#transport, identity), options);
  }

  /** Lets connections go. Calls under way fail. */
  async close(): Promise<void> {
    await this.#options.onClose?.();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** The size of an object that can be scaled. */
  async getScale(kind: KindRef<KubeObject>, key: ObjectKey, options: CallOptions = {}): Promise<Scale> {
    return this.caller.json({ method: "GET", path: this.pathOf(kind, key, "scale") }, options);
  }

  /** Sets the size of an object that can be scaled. */
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

  /** The lines of a container's log. With `follow`, they keep coming. */
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

  /** Connects to the process that a container runs. */
  async attach(key: ObjectKey, options: AttachOptions = {}): Promise<RemoteProcess> {
    const path = this.pathOf(Pod, key, "attach") + encodeQuery(attachQuery(options));
    return new RemoteProcess(await this.#socket(path, CHANNEL_PROTOCOLS, options));
  }

  /** Opens the way to a pod's ports. */
  async portForward(key: ObjectKey, options: CallOptions = {}): Promise<PortForward> {
    return new PortForward(await this.#socket(this.pathOf(Pod, key, "portforward"), [PORT_FORWARD_PROTOCOL], options));
  }

  async #socket(path: string, upgrade: readonly string[], options: CallOptions) {
    const { socket } = await this.caller.open({ method: "GET", path, upgrade }, options);
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

  /** What this client's user may do in a namespace. */
  async rulesIn(namespace: string, options: CallOptions = {}): Promise<AccessReviewRules> {
    return reviewRules(this.caller, namespace, options);
  }

  /** Who the server takes this client's user for. */
  async whoAmI(options: CallOptions = {}): Promise<UserInfo> {
    return reviewSelf(this.caller, options);
  }

  /** Whose token that is, and whether it is good. */
  async reviewToken(
    token: string,
    options: CallOptions & { audiences?: readonly string[] } = {},
  ): Promise<TokenReviewResult> {
    return reviewToken(this.caller, token, options.audiences, options);
  }

  async version(options: CallOptions = {}): Promise<ServerVersion> {
    return this.caller.json({ method: "GET", path: "/version" }, options);
  }

  /** Any request, for what has no verb here: the answer as text. */
  async request(call: ClientRequest, options: CallOptions = {}): Promise<string> {
    return this.caller.text(call, options);
  }
}
