import type { Container } from "konverge/kinds";
import type { DeepReadonly } from "konverge/objects";

/** What serves a model within a worker. */
export const ENGINES = ["vllm", "sglang", "trtllm"] as const;
export type Engine = (typeof ENGINES)[number];

/** How many times a request continues on another worker, as Dynamo's documentation recommends. Its own default is 0. */
export const MIGRATION_LIMIT = 3;

/** Where the engine keeps what it compiles, in the home folder of the images' user; undefined: the engine has no cache. */
const COMPILATION_CACHE: { readonly [engine in Engine]?: string } = { vllm: "/home/dynamo/.cache/vllm" };
const COMPILATION_CACHE_VARIABLE: { readonly [engine in Engine]?: string } = { vllm: "VLLM_CACHE_ROOT" };

/** The path of an engine's compilation cache, and the variable that names it. */
export function compilationCache(engine: Engine, path = COMPILATION_CACHE[engine]) {
  return { path, variable: COMPILATION_CACHE_VARIABLE[engine] };
}

/** What a worker runs if its component has no command. */
export function workerCommand(what: {
  readonly engine: Engine;
  readonly image: string;
  /** The version of Dynamo, if the image's tag does not name it. */
  readonly version: string | undefined;
  readonly isPrefill: boolean;
  readonly namesModel: boolean;
}): Pick<Container, "command" | "args"> {
  const { engine, namesModel } = what;
  const model = namesModel ? [engine === "vllm" ? "--model" : "--model-path", "$(MODEL)"] : [];
  const args = [...model, ...(what.isPrefill ? prefillArgs(what) : migrationArgs(what))];
  return { command: ["python3", "-m", `dynamo.${engine}`], ...(args.length > 0 && { args }) };
}

/** Requests for prefill are never continued elsewhere: their workers finish them. */
function prefillArgs(what: { engine: Engine; image: string; version: string | undefined }): string[] {
  return what.engine === "vllm" && isEarly(what) ? ["--is-prefill-worker"] : ["--disaggregation-mode", "prefill"];
}

/**
 * Lets frontends continue the requests of a worker that ends on another one. Without it, workers of Dynamo 0.4 leave theirs
 * unanswered, and those of later versions lose requests that arrive while frontends still find them.
 *
 * Caveats: from Dynamo 1.0 on, a variable of the frontends has the limit, and workers refuse the flag. It is therefore left
 * out if the version is not known.
 */
function migrationArgs(what: { image: string; version: string | undefined }): string[] {
  return isEarly(what) ? [`--migration-limit=${MIGRATION_LIMIT}`] : [];
}

/** Whether an image has a Dynamo before 1.0, as its tag or its component says. */
function isEarly({ image, version }: { image: string; version: string | undefined }): boolean {
  return version === undefined ? /:v?0\.\d[^/:@]*(@.*)?$/.test(image) : version.startsWith("0.");
}

/** The engine that a container runs, as its command says. */
export function engineOf({ command = [], args = [] }: DeepReadonly<Partial<Container>>): Engine | undefined {
  const words = [...command, ...args].join(" ");
  return ENGINES.find((engine) => words.includes(`dynamo.${engine}`));
}
