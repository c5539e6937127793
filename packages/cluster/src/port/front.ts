import {
  ADMINISTRATOR,
  type ApiServer,
  Guard,
  type GuardOptions,
  type RequestInfo,
  type User,
} from "@konverge/apiserver";
import { Client } from "@konverge/client";
import { type ApiResponse, type Clock, sleep, type Transport, unscaled } from "@konverge/core";
import { LEASE_NAMESPACE } from "../kubelet/heartbeats.ts";
import type { Kubelet } from "../kubelet/kubelet.ts";
import { metricsResponse, withMetricsGroup } from "../metrics/metrics-api.ts";
import { realUsage } from "../metrics/real-usage.ts";
import type { NodePulse } from "../parts/node-pulse.ts";
import type { KubeletClient } from "../real-nodes/kubelet-client.ts";
import { ServiceBackends } from "../streams/service-backend.ts";
import { isNodeProxied, proxiedToNode } from "./node-proxy.ts";
import { isProxied, type ProxyHost, proxied } from "./proxies.ts";

/** What the front passes requests on to. */
export interface FrontOptions {
  readonly server: ApiServer;
  readonly kubelet: Kubelet;
  /** Reaches the kubelets of real nodes. */
  readonly kubelets: KubeletClient;
  readonly clock: Clock;
  readonly pulse: NodePulse;
  readonly audit?: GuardOptions["audit"];
}

/**
 * What stands before the API server: it answers what an aggregated API would (metrics.k8s.io), passes on what is meant for
 * nodes, pods and Services themselves (proxies), and everything else to the server. Requests have been authorized before they get
 * here.
 */
export class ClusterFront {
  readonly guard: Guard;
  /** Acts as the administrator, for code in the same process. */
  readonly transport: Transport;
  readonly #server: ApiServer;
  readonly #kubelet: Kubelet;
  readonly #clock: Clock;
  readonly #pulse: NodePulse;
  readonly #kubelets: KubeletClient;
  /** What programs in pods are reached by. */
  readonly inside: ProxyHost;
  /** Milliseconds that requests from outside of this process wait before they are answered. */
  requestDelay = 0;

  constructor(options: FrontOptions) {
    const { server, kubelet, kubelets, clock, pulse, audit } = options;
    this.#kubelets = kubelets;
    this.#server = server;
    this.#kubelet = kubelet;
    this.#clock = clock;
    this.#pulse = pulse;
    const client = new Client(server.transport, { clock });
    this.inside = { client, network: kubelet.network, backends: new ServiceBackends(server.store) };
    this.guard = new Guard({
      access: server.access,
      limit: (user, info, work) =>
        server.limit(user, info, async () => {
          // The network's time is the machine's.
          if (this.requestDelay > 0) await sleep(unscaled(clock), this.requestDelay, { label: "request delay" });
          return work();
        }),
      ...(audit && { audit }),
      answer: (...authorized) => this.answer(...authorized),
    });
    this.transport = this.guard.as(ADMINISTRATOR);
  }

  /** Acts as a user, for the parts of the cluster itself. */
  as(user: User): Transport {
    const [here, onward] = [this.guard.as(user), this.#server.as(user)];
    // Of the APIs served here, components use only metrics, and rarely.
    return (request) => (request.path.startsWith(METRICS) ? here : onward)(request);
  }

  /** Answers a request that has been authorized, or passes it on. */
  async answer(...authorized: Parameters<ApiServer["answer"]>): Promise<ApiResponse> {
    const [request, info] = authorized;
    const onward = () => this.#server.answer(...authorized);
    if (info.path === "/apis" || isOfMetrics(info)) {
      if (info.path === "/apis") return withMetricsGroup(await onward());
      const real = await realUsage(this.#kubelets);
      return metricsResponse({ kubelet: this.#kubelet, server: this.#server, clock: this.#clock, real }, info);
    }
    if (READING.has(info.verb) && isOfNodeLeases(info)) await this.#pulse.renew();
    if (isNodeProxied(info)) {
      const onSimulated = (node: string) =>
        this.#kubelet.nodeNames().includes(node) ? this.#kubelet.podsOn(node) : undefined;
      return (await proxiedToNode(this.#kubelets, onSimulated, request, info)) ?? onward();
    }
    if (isProxied(info)) return proxied(this.inside, request, info);
    return onward();
  }
}

const METRICS_GROUP = "metrics.k8s.io";
const METRICS = `/apis/${METRICS_GROUP}`;
function isOfMetrics({ path, group }: RequestInfo): boolean {
  return group === METRICS_GROUP || path === METRICS || path === `${METRICS}/`;
}

const READING = new Set(["get", "list", "watch"]);

function isOfNodeLeases({ group, resource, namespace }: RequestInfo): boolean {
  return (
    group === "coordination.k8s.io" && resource === "leases" && (namespace === LEASE_NAMESPACE || namespace === "")
  );
}
