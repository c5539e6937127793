/**
 * What an operator tells about itself. {@link Metrics}, {@link reconcileLog} and {@link tracing} are observers: the manager
 * tells them everything, they change nothing. {@link endpoints} answers probes and scrapes, {@link serve} gives it a port.
 */
export { type EndpointOptions, endpoints } from "./endpoints.ts";
export { Metrics, type MetricsOptions } from "./metrics.ts";
export { LOG_LEVELS, type LogLevel, type ProcessLog, type ProcessLogOptions, processLog } from "./process-log.ts";
export { reconcileLog } from "./reconcile-log.ts";
export { type ServeOptions, type Serving, serve } from "./serve.ts";
export { tracing } from "./tracing.ts";
