import { groupKindText, parseApiVersion } from "@konverge/core";
import type { CallOptions } from "../options.ts";
import type { ApiResource, DiscoveredApis } from "./api-resource.ts";

/** The name of a kind: with a version (`apiVersion`), or in the server's preferred version (`group`). */
export type KindName = { apiVersion: string; kind: string } | { group: string; kind: string };

/** The server serves no kind of that name. */
export class UnknownKindError extends Error {
  override readonly name = "UnknownKindError";
}

/**
 * Finds kinds by name among those that the server serves. Discovery is repeated when a kind is not known yet, so a kind
 * that was just installed is found; concurrent lookups share one request.
 */
export class RestMapper {
  readonly #ask: (options: CallOptions) => Promise<DiscoveredApis>;
  #surface: DiscoveredApis | undefined;
  #asking: Promise<DiscoveredApis> | undefined;

  constructor(ask: (options: CallOptions) => Promise<DiscoveredApis>) {
    this.#ask = ask;
  }

  /** The kind of that name, or an UnknownKindError. */
  async resolve(name: KindName, options: CallOptions = {}): Promise<ApiResource> {
    const { group, version } =
      "group" in name ? { group: name.group, version: undefined } : parseApiVersion(name.apiVersion);
    const what =
      version === undefined
        ? groupKindText({ group, kind: name.kind })
        : `${name.kind} of ${group ? `${group}/` : ""}${version}`;
    return this.#find(what, group, options, ({ resources }) =>
      resources.find(
        (item) =>
          item.kind === name.kind && item.group === group && (version === undefined || item.version === version),
      ),
    );
  }

  /** The kind that kubectl's users mean by `po`, `deployments`, `deploy.apps` or `deployments.v1.apps`. */
  async resolveResource(text: string, options: CallOptions = {}): Promise<ApiResource> {
    const [resource, ...rest] = text.toLowerCase().split(".") as [string, ...string[]];
    return this.#find(`resource ${JSON.stringify(text)}`, undefined, options, ({ resources }) => {
      const candidates = resources.filter(
        (item) =>
          item.plural === resource ||
          item.singular === resource ||
          item.kind.toLowerCase() === resource ||
          item.shortNames.includes(resource),
      );
      if (rest.length === 0) return candidates[0];
      const group = rest.join(".");
      const [version, ...tail] = rest as [string, ...string[]];
      return (
        candidates.find((item) => item.group === group) ??
        candidates.find((item) => item.version === version && item.group === tail.join("."))
      );
    });
  }

  /** The kinds that the server serves, as of the last discovery. */
  async surface(options: CallOptions = {}): Promise<DiscoveredApis> {
    return this.#surface ?? (await this.refresh(options));
  }

  /** Repeats the discovery. */
  async refresh(options: CallOptions = {}): Promise<DiscoveredApis> {
    // One asker's signal or deadline must not end another's question.
    if (Object.keys(options).length > 0) return this.#load(options);
    this.#asking ??= this.#load({}).finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #load(options: CallOptions): Promise<DiscoveredApis> {
    this.#surface = await this.#ask(options);
    return this.#surface;
  }

  async #find(
    what: string,
    group: string | undefined,
    options: CallOptions,
    pick: (surface: DiscoveredApis) => ApiResource | undefined,
  ): Promise<ApiResource> {
    const known = this.#surface && pick(this.#surface);
    if (known) return known;
    const surface = await this.refresh(options);
    const found = pick(surface);
    if (found) return found;
    const away = surface.unavailable.filter((entry) => group === undefined || entry.group === group);
    const reasons = away.map((entry) => `${entry.group}/${entry.version} is unavailable: ${entry.why}`);
    throw new UnknownKindError([`the server has no ${what}`, ...reasons].join("; "));
  }
}
