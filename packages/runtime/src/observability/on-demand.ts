import { createRequire } from "node:module";

const load = createRequire(import.meta.url);

// Libraries that take long to load, and that most programs which import the runtime never use.

export const prometheus = (): typeof import("prom-client") => load("prom-client");
export const openTelemetry = (): typeof import("@opentelemetry/api") => load("@opentelemetry/api");
export const pinoLogger = (): typeof import("pino") => load("pino");

// An `import` of Node's own http reads all its exports, among them some that load a whole second client (fetch).
export const nodeHttp = (): typeof import("node:http") => load("node:http");
export const nodeHttps = (): typeof import("node:https") => load("node:https");
