/**
 * Helm's own template engine, compiled to WebAssembly, as a function from a chart and values to objects.
 *
 * `engine/helm` of this package is the Go program around Helm's packages: it has a chart and values on its standard input, and writes
 * documents, hooks and notes. `sandbox.ts` is all that the program gets from its host. `render-thread.ts` runs it in a thread that is
 * ended when it takes too long, and `helm-engine.ts` keeps results.
 *
 * What it promises: the same request gives the same result, random values and the time included; a template reads nothing of the
 * machine, and ends.
 */
export { readChart } from "./chart-source.ts";
export { builtEngine, ENGINE_SOURCES, engineCache, HELM_VERSION } from "./engine-file.ts";
export { HelmEngine } from "./helm-engine.ts";
export type { RenderLimits } from "./render-thread.ts";
export * from "./rendered.ts";
