/**
 * A Kubernetes API server in this process.
 *
 * {@link ApiServer} is a transport over a store: a request is read (http/), its resource found (resources/), the verb carried
 * out (verbs/) and the change committed (storage/), from where watchers see it. There is no port in it and no I/O; a
 * listener puts it behind TLS for clients of any language.
 *
 * It promises to behave as kube-apiserver does: wherever the two differ, it is wrong.
 */

export type { Activity, OpenWatch, Underway } from "./activity.ts";
export type { AdmissionPluginOptions } from "./admission/index.ts";
export type { AggregationOptions, CallExtension, ExtensionTarget, FrontProxy } from "./aggregation/index.ts";
export * from "./auth/index.ts";
export { type RequestInfo, requestInfo } from "./http/request-info.ts";
export * from "./listener/index.ts";
export { ApiServer, type ApiServerOptions } from "./server.ts";
export * from "./storage/index.ts";
export type { KubeletApi, KubeletRequest } from "./subresources/index.ts";
export { type CallWebhook, noWebhooks, WebhookClientError } from "./webhook-call.ts";
