/**
 * API priority and fairness. Each request that comes over the network belongs to the first FlowSchema that matches it, and so
 * to a priority level, which has a share of the server's seats. A request takes a seat until its answer begins; one that
 * finds none waits in a queue of its level, or is refused with 429 when that is full or the wait too long.
 */
import { type ApiResponse, type Clock, parseJson } from "@konverge/core";
import type { FlowSchema, PriorityLevelConfiguration } from "@konverge/kinds";
import type { User } from "../auth/user.ts";
import { labelsText, type MetricFamily } from "../discovery/metrics.ts";
import { isLongRunning, type RequestInfo } from "../http/request-info.ts";
import type { Store } from "../storage/store.ts";
import { byPrecedence, distinguisherOf, matches } from "./classify.ts";
import { DroppedRequests } from "./dropped-requests.ts";
import { type LevelLimits, PriorityLevel } from "./priority-level.ts";

const GROUP = "flowcontrol.apiserver.k8s.io";
const SCHEMAS = `${GROUP}/flowschemas`;
const LEVELS = `${GROUP}/prioritylevelconfigurations`;
/** As kube-apiserver has it: --max-requests-inflight and --max-mutating-requests-inflight together. */
const ALL_SEATS = 600;
const DEFAULT_SHARES = 30;

interface Level {
  readonly uid: string;
  readonly seats: number;
  /** Without seats to count: exempt. */
  readonly level: PriorityLevel | undefined;
  readonly dropped: DroppedRequests;
}

export class FlowControl {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #leave: (() => void)[];
  #schemas: FlowSchema[] | undefined;
  #levels = new Map<string, Level>();
  /** By their labels. */
  readonly #dispatched = new Map<string, number>();
  readonly #rejected = new Map<string, number>();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    const changed = () => {
      this.#schemas = undefined;
    };
    this.#leave = [SCHEMAS, LEVELS].map((resource) => store.onChange(resource, changed));
  }

  close(): void {
    for (const leave of this.#leave) leave();
  }

  /** Carries out a request when its priority level has a seat for it. */
  async run(user: User, info: RequestInfo, work: () => Promise<ApiResponse>): Promise<ApiResponse> {
    if (isLongRunning(info) && info.verb !== "watch") return work();
    const schemas = this.#configuration();
    const schema = schemas.find((each) => matches(each, user, info));
    const found = schema && this.#levels.get(schema.spec!.priorityLevelConfiguration.name);
    if (!schema || !found) return work();
    const headers = {
      "x-kubernetes-pf-flowschema-uid": schema.metadata?.uid ?? "",
      "x-kubernetes-pf-prioritylevel-uid": found.uid,
    };
    const labels = {
      flow_schema: schema.metadata?.name ?? "",
      priority_level: schema.spec!.priorityLevelConfiguration.name,
    };
    const release = await found.level?.seat(`${labels.flow_schema}\0${distinguisherOf(schema, user, info)}`);
    if (typeof release === "string") {
      increment(this.#rejected, labelsText({ ...labels, reason: release }));
      return withHeaders(tooManyRequests(found.dropped.record()), headers);
    }
    increment(this.#dispatched, labelsText(labels));
    try {
      return withHeaders(await work(), headers);
    } finally {
      release?.();
    }
  }

  /** What metrics report about priority levels. */
  metrics(): MetricFamily[] {
    this.#configuration();
    const seats = Array.from(this.#levels, ([name, level]): [string, number] => [
      labelsText({ priority_level: name }),
      level.seats,
    ]);
    const prefix = "apiserver_flowcontrol_";
    return [
      [`${prefix}nominal_limit_seats`, "gauge", "Nominal seats of each priority level.", seats],
      [`${prefix}dispatched_requests_total`, "counter", "Requests that got a seat.", [...this.#dispatched]],
      [`${prefix}rejected_requests_total`, "counter", "Requests that got no seat.", [...this.#rejected]],
    ];
  }

  /** The current configuration; levels keep the requests that are in them. */
  #configuration(): FlowSchema[] {
    if (this.#schemas) return this.#schemas;
    const configurations = this.#all<PriorityLevelConfiguration>(LEVELS);
    const sum = configurations.reduce((shares, configuration) => shares + sharesOf(configuration), 0);
    const levels = new Map<string, Level>();
    for (const configuration of configurations) {
      const { name = "", uid = "" } = configuration.metadata ?? {};
      const limits = limitsOf(configuration, sum);
      const before = this.#levels.get(name);
      if (limits && before?.level) before.level.limits = limits;
      const level = limits && (before?.level ?? new PriorityLevel(this.#clock, limits));
      const seats = seatsOf(configuration, sum);
      levels.set(name, { uid, seats, level, dropped: before?.dropped ?? new DroppedRequests(this.#clock) });
    }
    this.#levels = levels;
    const isUsable = ({ spec }: FlowSchema) => levels.has(spec?.priorityLevelConfiguration.name ?? "");
    this.#schemas = byPrecedence(this.#all<FlowSchema>(SCHEMAS).filter(isUsable));
    return this.#schemas;
  }

  #all<T>(resource: string): T[] {
    return [...this.#store.collection(resource).scan("")].map(({ text }) => parseJson(text) as T);
  }
}

function sharesOf({ spec }: PriorityLevelConfiguration): number {
  if (spec?.type === "Exempt") return spec.exempt?.nominalConcurrencyShares ?? 0;
  return spec?.limited?.nominalConcurrencyShares ?? DEFAULT_SHARES;
}

function seatsOf(configuration: PriorityLevelConfiguration, sum: number): number {
  return sum === 0 ? 0 : Math.ceil((ALL_SEATS * sharesOf(configuration)) / sum);
}

function increment(counts: Map<string, number>, labels: string): void {
  counts.set(labels, (counts.get(labels) ?? 0) + 1);
}

function limitsOf(configuration: PriorityLevelConfiguration, sum: number): LevelLimits | undefined {
  const { spec } = configuration;
  if (spec?.type === "Exempt") return undefined;
  const seats = seatsOf(configuration, sum);
  const { type, queuing } = spec?.limited?.limitResponse ?? {};
  if (type !== "Queue") return { seats };
  const { queues = 64, handSize = 8, queueLengthLimit = 50 } = queuing ?? {};
  return { seats, queuing: { queues, handSize, queueLengthLimit } };
}

function withHeaders(response: ApiResponse, headers: Record<string, string>): ApiResponse {
  return { ...response, headers: { ...response.headers, ...headers } };
}

function tooManyRequests(retryAfter: number): ApiResponse {
  return {
    status: 429,
    headers: {
      "content-type": "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
      "retry-after": String(retryAfter),
    },
    body: "Too many requests, please try again later.\n",
  };
}
