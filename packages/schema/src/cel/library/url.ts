/** `url()`: absolute URLs and paths taken apart. */
import { type GoUrl, parseRequestUri, parseUrl } from "@konverge/core";
import type { Library } from "../types/declarations.ts";
import { ListValue, MapValue } from "../values/collections.ts";
import { CelError, noSuchOverload, Opaque, type Value } from "../values/values.ts";

class Url extends Opaque {
  readonly typeName = "kubernetes.URL";
  readonly url: GoUrl;
  readonly #parts = new Map<string, Value>();
  constructor(url: GoUrl) {
    super();
    this.url = url;
  }
  /** A part of it, taken apart once. */
  part(name: string, take: (url: GoUrl) => Value): Value {
    const found = this.#parts.get(name) ?? take(this.url);
    this.#parts.set(name, found);
    return found;
  }
  equal(other: Value): Value {
    return other instanceof Url ? this.url.toString() === other.url.toString() : noSuchOverload(other);
  }
}

function toUrl(text: string): Value {
  try {
    parseRequestUri(text);
    return new Url(parseUrl(text));
  } catch (error) {
    return new CelError(`URL parse error during conversion from string: ${(error as Error).message}`);
  }
}

function isUrl(text: string): Value {
  try {
    parseRequestUri(text);
    return true;
  } catch {
    return false;
  }
}

function query({ query }: GoUrl): Value {
  const map = new MapValue();
  for (const [key, values] of query) map.set(key, new ListValue(values));
  return map;
}

const part = (name: string, take: (url: GoUrl) => Value) => (url: Url) => url.part(name, take);

/** Kubernetes' functions of URLs. */
export const url: Library = {
  overloads: [
    ["string_to_url", "url(string): kubernetes.URL", toUrl],
    ["url_get_scheme", "kubernetes.URL.getScheme(): string", part("scheme", (url) => url.scheme)],
    ["url_get_host", "kubernetes.URL.getHost(): string", part("host", (url) => url.host)],
    ["url_get_hostname", "kubernetes.URL.getHostname(): string", part("hostname", (url) => url.hostname)],
    ["url_get_port", "kubernetes.URL.getPort(): string", part("port", (url) => url.port)],
    ["url_get_escaped_path", "kubernetes.URL.getEscapedPath(): string", part("escapedPath", (url) => url.escapedPath)],
    ["url_get_query", "kubernetes.URL.getQuery(): map(string, list(string))", part("query", query)],
    ["is_url_string", "isURL(string): bool", isUrl],
  ],
};
