import { createRequire } from "node:module";

const load = createRequire(import.meta.url);

// Libraries that take long to load, and that most programs which import the runtime never use.

export const prometheus = (): typeof import("prom-client") => load("prom-client");
export const openTelemetry = (): typeof import("@opentelemetry/api") => load("@opentelemetry/api");
export const pinoLogger = (): typeof import("pino") => load("pino");
