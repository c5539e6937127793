/** `url()`: absolute URLs and paths taken apart. */
import { type GoUrl, parseRequestUri, parseUrl } from "@konverge/core";
import type { Library } from "../types/declarations.ts";
import { ListValue, MapValue } from "../values/collections.ts";
import { CelError, noSuchOverload, Opaque, type Value } from "../values/values.ts";

class Url extends Opaque {
  readonly typeName = "kubernetes.URL";
  readonly url: GoUrl;
  constructor(url: GoUrl) {
    super();
    this.url = url;
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

function query({ url }: Url): Value {
  const map = new MapValue();
  for (const [key, values] of url.query) map.set(key, new ListValue(values));
  return map;
}

/** Kubernetes' functions of URLs. */
export const url: Library = {
  overloads: [
    ["string_to_url", "url(string): kubernetes.URL", toUrl],
    ["url_get_scheme", "kubernetes.URL.getScheme(): string", ({ url }: Url) => url.scheme],
    ["url_get_host", "kubernetes.URL.getHost(): string", ({ url }: Url) => url.host],
    ["url_get_hostname", "kubernetes.URL.getHostname(): string", ({ url }: Url) => url.hostname],
    ["url_get_port", "kubernetes.URL.getPort(): string", ({ url }: Url) => url.port],
    ["url_get_escaped_path", "kubernetes.URL.getEscapedPath(): string", ({ url }: Url) => url.escapedPath],
    ["url_get_query", "kubernetes.URL.getQuery(): map(string, list(string))", query],
    ["is_url_string", "isURL(string): bool", isUrl],
  ],
};
