import { type ApiServer, Guard, type GuardOptions, type RequestInfo, requestInfo } from "@konverge/apiserver";
import { ApiError, type ApiRequest, type ApiResponse, type Clock, stringifyJson, type Transport } from "@konverge/core";
import type { Images } from "../images/image.ts";
import type { Kubelet } from "../kubelet/kubelet.ts";
import { metricsResponse, withMetricsGroup } from "../metrics/metrics-api.ts";
import { execResponse } from "../streams/exec.ts";
import { logResponse, noWorker } from "../streams/logs.ts";

const STREAMS = new Set(["log", "exec", "attach"]);

/**
 * What stands before the API server: it answers what only nodes know (logs, exec, attach) and what an aggregated API
 * would (metrics), and passes everything else on. Requests have been authorized before they get here.
 */
export class ClusterFront {
  readonly guard: Guard;
  readonly #server: ApiServer;
  readonly #kubelet: Kubelet;
  readonly #images: Images;
  readonly #clock: Clock;

  constructor(server: ApiServer, kubelet: Kubelet, images: Images, clock: Clock, audit?: GuardOptions["audit"]) {
    this.#server = server;
    this.#kubelet = kubelet;
    this.#images = images;
    this.#clock = clock;
    this.guard = new Guard({
      access: server.access,
      ...(audit && { audit }),
      answer: (request, info, user) => this.#answer(request, info, server.as(user)),
    });
  }

  /** Acts as the administrator, for code in the same process. */
  readonly transport: Transport = async (request) => {
    try {
      const info = requestInfo(request);
      return await this.#answer(request, info, this.#server.transport);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const body = `${stringifyJson(error.status)}\n`;
      return { status: error.code, headers: { "content-type": "application/json" }, body };
    }
  };

  async #answer(request: ApiRequest, info: RequestInfo, onward: Transport): Promise<ApiResponse> {
    if (info.isResource && info.group === "" && info.resource === "pods" && STREAMS.has(info.subresource)) {
      return this.#stream(request, info);
    }
    if (info.path === "/apis" || info.path.startsWith("/apis/metrics.k8s.io")) {
      if (info.path === "/apis") return withMetricsGroup(await onward(request));
      return metricsResponse(this.#kubelet, this.#server, this.#clock, request, info);
    }
    return onward(request);
  }

  #stream(request: ApiRequest, info: RequestInfo): ApiResponse {
    const { namespace, name, subresource } = info;
    const key = `${namespace}/${name}`;
    const worker = this.#kubelet.worker(key);
    if (!worker) throw noWorker(name, this.#server.store.collection("/pods").get(key) !== undefined);
    const query = new URL(request.path, "http://localhost").searchParams;
    if (subresource === "log") return logResponse(worker, query, this.#clock.now(), request.signal);
    const host = { clock: this.#clock, image: (reference: string | undefined) => this.#images.find(reference) };
    return execResponse(host, worker, query, request.upgrade, subresource === "attach");
  }
}
