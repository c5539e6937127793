/**
 * What an operator tells about itself. `Metrics`, `reconcileLog` and `tracing` are observers: the manager
 * tells them everything, they change nothing. `endpoints` answers probes and scrapes, `serve` gives it a port.
 */

import type { ApiRequest, ApiResponse, Transport } from "@konverge/core";
import { groupKindText, headerOf, readText } from "@konverge/core";
import type { ManagerState } from "../observe/observer.ts";
import type { Metrics } from "./metrics.ts";
import { LOG_LEVELS, type LogLevel, type ProcessLog } from "./process-log.ts";

export interface HttpEndpointsOptions {
  /** The manager whose health and readiness is reported. */
  manager: ManagerState;
  metrics?: Metrics;
  /** Its level can be read at `/loglevel`, and changed there from the same machine or pod. */
  log?: ProcessLog;
  /**
   * Milliseconds without any event after which a watch counts as stale. Default: five minutes; servers send bookmarks
   * every minute.
   */
  stale?: number;
  /** Additional checks, by name. A check fails by throwing. */
  ready?: Readonly<Record<string, () => void | Promise<void>>>;
  alive?: Readonly<Record<string, () => void | Promise<void>>>;
}

const DEFAULT_STALE = 300_000;

/**
 * The HTTP endpoints of a process, as a function from request to response ({@link serveHttp} serves it on a port):
 * - `/healthz`: liveness: if it fails, the process should be restarted;
 * - `/readyz`: readiness: the manager works or waits for a lease, every kind has been listed, and no watch is stale;
 * - `/metrics`: Prometheus' text format;
 * - `/loglevel`: reads (GET) and changes (PUT) the level of the log. The requests here need no credentials, so it is
 *   changed only over the loopback interface, which `kubectl port-forward` reaches, or from code.
 */
export function httpEndpoints(options: HttpEndpointsOptions): Transport {
  return async (request) => {
    const { method, path, body } = request;
    const { pathname } = new URL(path, "http://localhost");
    const reading = method === "GET" || method === "HEAD";
    if (pathname === "/loglevel" && options.log) {
      if (reading) return plain(200, options.log.level);
      if (method === "PUT" && !isFromHere(request)) return plain(403, ONLY_FROM_HERE);
      if (method === "PUT") return setLevel(options.log, (await readText(body ?? "")).trim());
    }
    if (!reading) return plain(405, "method not allowed");
    switch (pathname) {
      case "/healthz":
      case "/livez":
        return await judge({ ...options.alive });
      case "/readyz":
        return await judge({ manager: () => checkManager(options), ...options.ready });
      case "/metrics":
        if (!options.metrics) break;
        return {
          status: 200,
          headers: { "content-type": options.metrics.registry.contentType },
          body: await options.metrics.text(),
        };
    }
    return plain(404, "use /healthz, /readyz, /metrics or /loglevel");
  };
}

function checkManager({ manager, stale = DEFAULT_STALE }: HttpEndpointsOptions): void {
  if (manager.standby) return;
  const watches = [...manager.watches()];
  const named = (list: typeof watches) =>
    list.map(({ kind, error }) => groupKindText(kind) + because(error)).join(", ");
  const missing = watches.filter(({ synced }) => !synced);
  if (missing.length > 0) throw new Error(`not listed yet: ${named(missing)}`);
  const old = watches.filter(({ age }) => age > stale);
  if (old.length > 0) throw new Error(`nothing received for ${stale} ms: ${named(old)}`);
  if (!manager.working) throw new Error("the controllers are not running");
}

const because = (error: Error | undefined) => (error ? ` (${error.message})` : "");

async function judge(checks: Readonly<Record<string, () => void | Promise<void>>>): Promise<ApiResponse> {
  const wrong: string[] = [];
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check();
    } catch (error) {
      wrong.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return wrong.length === 0 ? plain(200, "ok") : plain(503, wrong.join("\n"));
}

const ONLY_FROM_HERE =
  "the level can be changed from the same pod or machine only: kubectl port-forward POD 8080, then PUT http://localhost:8080/loglevel";
const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/i;
const LOOPBACK_HOST = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/i;

/** A web page can point its own host name at this machine (DNS rebinding): the Host header must name this machine, too. */
function isFromHere({ remoteAddress, headers }: ApiRequest): boolean {
  if (remoteAddress === undefined) return true;
  return LOOPBACK.test(remoteAddress) && LOOPBACK_HOST.test(headerOf(headers, "host") ?? "");
}

function setLevel(log: ProcessLog, level: string): ApiResponse {
  if (!LOG_LEVELS.includes(level as LogLevel)) return plain(400, `use one of ${LOG_LEVELS.join(", ")}`);
  log.level = level as LogLevel;
  return plain(200, level);
}

function plain(status: number, text: string): ApiResponse {
  return { status, headers: { "content-type": "text/plain; charset=utf-8" }, body: `${text}\n` };
}
