/**
 * What an operator tells about itself. {@link Metrics}, {@link reconcileLog} and {@link tracing} are observers: the manager
 * tells them everything, they change nothing. {@link httpEndpoints} answers probes and scrapes, {@link serveHttp} serves
 * it on a port.
 */
export { type HttpEndpointsOptions, httpEndpoints } from "./endpoints.ts";
export { Metrics, type MetricsOptions } from "./metrics.ts";
export { LOG_LEVELS, type LogLevel, type ProcessLog, type ProcessLogOptions, processLog } from "./process-log.ts";
export { reconcileLog } from "./reconcile-log.ts";
export { type HttpServer, type ServeHttpOptions, serveHttp } from "./serve.ts";
export { tracing } from "./tracing.ts";
