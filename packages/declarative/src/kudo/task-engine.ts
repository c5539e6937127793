import { createHash } from "node:crypto";
import { type KubeObject, parseJson } from "@konverge/core";
import type { RenderLimits } from "../helm/engine/render-thread.ts";
import type { RenderedDocument } from "../helm/engine/rendered.ts";
import { sharedThread } from "../helm/engine/shared-thread.ts";
import { withoutNulls } from "../helm/rendered-objects.ts";

/** The templates of a task, and what they read. */
export interface TaskTemplates {
  readonly templates: readonly { readonly name: string; readonly text: string }[];
  /** `.Name`, `.Namespace` and the like. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly parameters: readonly { readonly name: string; readonly type: string; readonly value: string }[];
  /** The same seed gives the same random values. */
  readonly seed: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Templates that cannot be rendered with these parameters. The message has template, line and expression, as Go reports them. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
}

interface Response {
  readonly manifests?: readonly RenderedDocument[];
  readonly parameters?: Readonly<Record<string, string>>;
  readonly error?: string;
}

/** How many results are kept. */
const KEPT = 500;

/** Renders templates as KUDO does, by the engine that renders charts. The result depends on the request alone, and is kept. */
export class TaskEngine {
  readonly #limits: RenderLimits;
  readonly #results = new Map<string, Response>();

  constructor(limits: RenderLimits = {}) {
    this.#limits = limits;
  }

  /** The objects of the templates, in their order. Throws a {@link TemplateError}. */
  objects(task: TaskTemplates): KubeObject[] {
    return (this.#response(task, false).manifests ?? []).flatMap(({ path, objects }) =>
      objects.map((object) => checked(path, withoutNulls(object))),
    );
  }

  /** The parameters in a file with parameters for another package. Throws a {@link TemplateError}. */
  parameters(task: TaskTemplates): Readonly<Record<string, string>> {
    return this.#response(task, true).parameters ?? {};
  }

  #response({ templates, values, parameters, seed, now }: TaskTemplates, parameterFile: boolean): Response {
    const input = JSON.stringify({ task: { templates, values, parameters, parameterFile } });
    const key = createHash("sha256").update(`${seed} ${now} ${input}`).digest("base64");
    const response = this.#results.get(key) ?? this.#run(input, seed, now);
    this.#results.delete(key);
    this.#results.set(key, response);
    if (this.#results.size > KEPT) this.#results.delete(this.#results.keys().next().value!);
    if (response.error !== undefined) throw new TemplateError(response.error);
    return response;
  }

  #run(input: string, seed: string, now: number): Response {
    try {
      const { output } = sharedThread(this.#limits).run({ input: new TextEncoder().encode(input), now, seed });
      return parseJson(new TextDecoder().decode(output)) as Response;
    } catch (error) {
      throw new TemplateError((error as Error).message);
    }
  }
}

function checked(path: string, object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata } = object as Partial<KubeObject>;
  const missing =
    typeof apiVersion !== "string"
      ? "apiVersion"
      : typeof kind !== "string"
        ? "kind"
        : metadata?.name
          ? ""
          : "metadata.name";
  if (missing === "") return object;
  throw new TemplateError(`${path} renders an object without ${missing}: ${JSON.stringify(object).slice(0, 200)}`);
}
