import type { KubeObject } from "@konverge/core";

/** The files of a folder, by their paths in it, or a packaged chart (`.tgz`). */
export type ChartSource =
  | { readonly files: readonly { readonly name: string; readonly data: Uint8Array }[] }
  | { readonly archive: Uint8Array };

/** What is rendered. */
export interface RenderRequest {
  readonly chart: ChartSource;
  /** Above the chart's defaults. */
  readonly values?: Readonly<Record<string, unknown>>;
  /** As `helm --set`: above everything else. Each may be a template. */
  readonly overrides?: Readonly<Record<string, string>>;
  readonly release: RenderedRelease;
  /** `.Capabilities`. Default: those of `helm template`. */
  readonly capabilities?: { readonly kubeVersion: string; readonly apiVersions: readonly string[] };
  /** What `lookup` returns. */
  readonly lookups?: ReadonlyMap<string, LookupResult>;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The same seed gives the same random values. */
  readonly seed: string;
}

/** `.Release` */
export interface RenderedRelease {
  readonly name: string;
  readonly namespace: string;
  readonly revision: number;
  readonly upgrade: boolean;
}

/** The arguments of a `lookup`. Without a name it is a list; without a namespace, of all. */
export interface Lookup {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** What a `lookup` found: nothing, an object or a list, or why it failed. */
export interface LookupResult {
  readonly object?: object | undefined;
  readonly error?: string;
}

/** Identifies a lookup in a request. */
export function lookupText({ apiVersion, kind, namespace, name }: Lookup): string {
  return [apiVersion, kind, namespace, name].join("|");
}

/** A document that a template rendered. */
export interface RenderedDocument {
  /** The template: `web/templates/service.yaml`. */
  readonly path: string;
  readonly text: string;
  /** None if the text is only a comment; several if it is a list. */
  readonly objects: readonly KubeObject[];
}

/** An object that exists for an event only. */
export interface RenderedHook extends RenderedDocument {
  readonly events: readonly string[];
  readonly weight: number;
  readonly deletePolicies: readonly string[];
}

/** What is known of a chart. */
export interface ChartFacts {
  readonly name: string;
  readonly version: string;
  readonly appVersion?: string;
  /** The defaults of the chart and of its subcharts. */
  readonly values: Readonly<Record<string, unknown>>;
  /** values.schema.json, in base64. */
  readonly schema?: string;
  /** The texts of templates, by their paths. */
  readonly templates: Readonly<Record<string, string>>;
  readonly kubeVersion?: string;
}

/** A chart, rendered. */
export interface Rendered {
  readonly chart: ChartFacts;
  /** What is in `crds/`. */
  readonly crds: readonly RenderedDocument[];
  /** In the order in which Helm installs them. */
  readonly manifests: readonly RenderedDocument[];
  readonly hooks: readonly RenderedHook[];
  readonly notes: string;
  /** Lookups that the request had no result for: what was rendered is preliminary. */
  readonly missing: readonly Lookup[];
  /** The result depends on the seed. */
  readonly usedRandom: boolean;
}

/** A chart that cannot be rendered with these values. The message has chart, file, line and value, as Helm reports them. */
export class RenderError extends Error {
  override readonly name = "RenderError";
  /** Lookups that the request had no result for: with them, it may be rendered. */
  readonly missing: readonly Lookup[];
  readonly chart: ChartFacts | undefined;

  constructor(message: string, missing: readonly Lookup[] = [], chart?: ChartFacts) {
    super(message);
    this.missing = missing;
    this.chart = chart;
  }
}

/** The text that `helm template` prints. */
export function templateText({ manifests, hooks }: Pick<Rendered, "manifests" | "hooks">): string {
  const text = (all: readonly RenderedDocument[]) =>
    all.map((one) => `---\n# Source: ${one.path}\n${one.text}\n`).join("");
  // As Go's strings.TrimSpace.
  return `${text(manifests).trim()}\n${text(hooks)}`;
}
