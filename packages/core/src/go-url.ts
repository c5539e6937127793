/**
 * URLs as Go's net/url reads them, which is what the API server does. JavaScript's own URL follows other rules: it
 * repairs what Go rejects. Everything here works on bytes, held in strings of characters up to U+00FF.
 */
import { parseIp } from "./ip-address.ts";
import { quoted } from "./quoted.ts";

/** Why a text is no URL, in Go's words. */
export class UrlError extends Error {}

type Mode = "path" | "host" | "zone" | "user" | "query" | "fragment";

/** What may stand as it is in each part, beyond letters, digits and `-_.~`: in a character class. */
const PLAIN: Record<Mode, string> = {
  path: "$&+,/:;=@",
  host: "!$&'()*+,;=:\\[\\]<>\"",
  zone: "!$&'()*+,;=:\\[\\]<>\"",
  user: "$&+,;=",
  query: "",
  fragment: "$&+,/:;=?@!()*",
};

const classOf = (more: string, flags = "") => new RegExp(`[^A-Za-z0-9\\-_.~${more}]`, flags);
/** What must be escaped in each part. Searching long texts for it is faster than testing each character. */
const ESCAPED = Object.fromEntries(Object.entries(PLAIN).map(([mode, plain]) => [mode, classOf(plain, "g")])) as Record<
  Mode,
  RegExp
>;
const ESCAPED_IN_HOST = classOf(PLAIN.host);
/** What a path and a fragment may have as they are written, of those that are decoded otherwise. */
const NOT_IN_RAW_PATH = classOf("!$&'()*+,;=:@\\[\\]%/");
const NOT_IN_RAW_FRAGMENT = classOf("!$&'()*+,;=:@\\[\\]%/?");
/** Of hosts: bytes beyond ASCII pass. */
const NOT_IN_HOST = /[^A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"\x80-\xff]/;

function encodePart(text: string, mode: Mode): string {
  return text.replace(ESCAPED[mode], (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
}

const BYTES = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code));

function decodePart(text: string, mode: Mode): string {
  if (mode === "host" || mode === "zone") return decodeHost(text, mode);
  const wrong = /%(?![0-9a-fA-F]{2})/.exec(text);
  if (wrong) throw new UrlError(`invalid URL escape ${quoted(text.slice(wrong.index, wrong.index + 3))}`);
  const [first = "", ...escaped] = (mode === "query" ? text.replaceAll("+", " ") : text).split("%");
  return first + escaped.map((part) => BYTES[Number.parseInt(part.slice(0, 2), 16)]! + part.slice(2)).join("");
}

function decodeHost(text: string, mode: "host" | "zone"): string {
  let result = "";
  let at = 0;
  for (;;) {
    const percent = text.indexOf("%", at);
    const plain = text.slice(at, percent < 0 ? text.length : percent);
    const wrong = NOT_IN_HOST.exec(plain)?.[0];
    if (wrong !== undefined) throw new UrlError(`invalid character ${quoted(wrong)} in host name`);
    result += plain;
    if (percent < 0) return result;
    result += decodeHostEscape(text.slice(percent, percent + 3), mode);
    at = percent + 3;
  }
}

function decodeHostEscape(escaped: string, mode: "host" | "zone"): string {
  if (!/^%[0-9a-fA-F]{2}$/.test(escaped)) throw new UrlError(`invalid URL escaped ${quoted(escaped)}`);
  const decoded = String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
  const isForbidden = mode === "host" ? decoded < "\x80" : decoded !== " " && ESCAPED_IN_HOST.test(decoded);
  if (isForbidden && escaped !== "%25") throw new UrlError(`invalid URL escaped ${quoted(escaped)}`);
  return decoded;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
const ASCII = /^[\x00-\x7f]*$/;
const toBytes = (text: string) =>
  ASCII.test(text) ? text : Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
const fromBytes = (bytes: string) =>
  ASCII.test(bytes) ? bytes : new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)));

function cut(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + separator.length)];
}

interface Parts {
  scheme: string;
  opaque: string;
  user: string | undefined;
  host: string;
  omitHost: boolean;
  path: string;
  rawPath: string;
  forceQuery: boolean;
  query: string;
  fragment: string;
}

/** A URL as Go parses it. */
export class GoUrl {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get scheme(): string {
    return fromBytes(this.#parts.scheme);
  }

  get host(): string {
    return fromBytes(this.#parts.host);
  }

  get hostname(): string {
    return fromBytes(splitHostPort(this.#parts.host)[0]);
  }

  get port(): string {
    return fromBytes(splitHostPort(this.#parts.host)[1]);
  }

  get escapedPath(): string {
    return fromBytes(this.#escapedPath());
  }

  get query(): Map<string, string[]> {
    const values = new Map<string, string[]>();
    for (const pair of this.#parts.query.split("&")) {
      if (pair === "" || pair.includes(";")) continue;
      const [key, value] = cut(pair, "=");
      try {
        const name = fromBytes(decodePart(key, "query"));
        const known = values.get(name) ?? [];
        known.push(fromBytes(decodePart(value, "query")));
        values.set(name, known);
      } catch (error) {
        if (!(error instanceof UrlError)) throw error;
      }
    }
    return values;
  }

  #escapedPath(): string {
    const { path, rawPath } = this.#parts;
    if (rawPath !== "" && !NOT_IN_RAW_PATH.test(rawPath)) return rawPath;
    return path === "*" ? "*" : encodePart(path, "path");
  }

  toString(): string {
    const { scheme, opaque, user, host, omitHost, path, forceQuery, query, fragment } = this.#parts;
    let text = scheme === "" ? "" : `${scheme}:`;
    if (opaque !== "") text += opaque;
    else {
      const hasAuthority = scheme !== "" || host !== "" || user !== undefined;
      const isOmitted = omitHost && host === "" && user === undefined;
      if (hasAuthority && !isOmitted) {
        if (host !== "" || path !== "" || user !== undefined) text += "//";
        if (user !== undefined) text += `${user}@`;
        text += encodePart(host, "host");
      }
      const escaped = this.#escapedPath();
      if (escaped !== "" && !escaped.startsWith("/") && host !== "") text += "/";
      text += escaped;
    }
    if (forceQuery || query !== "") text += `?${query}`;
    if (fragment !== "") text += `#${fragment}`;
    return fromBytes(text);
  }
}

/** Parses an absolute URL or an absolute path; throws a {@link UrlError} in Go's words. */
export function parseRequestUri(text: string): GoUrl {
  const url = toBytes(text);
  return describing(text, () => new GoUrl(parse(url, true)));
}

/** Parses any reference, its fragment apart from its path; throws a {@link UrlError} in Go's words. */
export function parseUrl(text: string): GoUrl {
  const [url, fragment] = cut(toBytes(text), "#");
  const parts = describing(fromBytes(url), () => parse(url, false));
  return describing(text, () => {
    const decoded = decodePart(fragment, "fragment");
    return new GoUrl({
      ...parts,
      fragment: !NOT_IN_RAW_FRAGMENT.test(fragment) ? fragment : encodePart(decoded, "fragment"),
    });
  });
}

function describing<R>(text: string, attempt: () => R): R {
  try {
    return attempt();
  } catch (error) {
    if (error instanceof UrlError) throw new UrlError(`parse ${quoted(text)}: ${error.message}`);
    throw error;
  }
}

function parse(url: string, isRequest: boolean): Parts {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\x00-\x1f\x7f]/.test(url)) throw new UrlError("net/url: invalid control character in URL");
  if (url === "" && isRequest) throw new UrlError("empty url");
  const parts: Parts = {
    scheme: "",
    opaque: "",
    user: undefined,
    host: "",
    omitHost: false,
    path: "",
    rawPath: "",
    forceQuery: false,
    query: "",
    fragment: "",
  };
  if (url === "*") return { ...parts, path: "*" };
  let rest = url;
  if (url.startsWith(":")) throw new UrlError("missing protocol scheme");
  const scheme = /^([A-Za-z][A-Za-z0-9+\-.]*):/.exec(url)?.[1];
  if (scheme !== undefined) {
    parts.scheme = scheme.toLowerCase();
    rest = url.slice(scheme.length + 1);
  }
  if (rest.endsWith("?") && rest.indexOf("?") === rest.length - 1) {
    parts.forceQuery = true;
    rest = rest.slice(0, -1);
  } else [rest, parts.query] = cut(rest, "?");
  if (!rest.startsWith("/")) {
    if (parts.scheme !== "") return { ...parts, opaque: rest };
    if (isRequest) throw new UrlError("invalid URI for request");
    if (cut(rest, "/")[0].includes(":")) throw new UrlError("first path segment in URL cannot contain colon");
  }
  if ((parts.scheme !== "" || (!isRequest && !rest.startsWith("///"))) && rest.startsWith("//")) {
    const slash = rest.indexOf("/", 2);
    const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash);
    rest = slash < 0 ? "" : rest.slice(slash);
    Object.assign(parts, parseAuthority(parts.scheme, authority));
  } else parts.omitHost = parts.scheme !== "" && rest.startsWith("/");
  parts.path = decodePart(rest, "path");
  parts.rawPath = encodePart(parts.path, "path") === rest ? "" : rest;
  return parts;
}

function parseAuthority(scheme: string, authority: string): { user: string | undefined; host: string } {
  const at = authority.lastIndexOf("@");
  const host = parseHost(scheme, authority.slice(at + 1));
  if (at < 0) return { user: undefined, host };
  const userInfo = authority.slice(0, at);
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(userInfo)) throw new UrlError("net/url: invalid userinfo");
  const [name, password] = cut(userInfo, ":");
  const user = encodePart(decodePart(name, "user"), "user");
  return { user: userInfo.includes(":") ? `${user}:${encodePart(decodePart(password, "user"), "user")}` : user, host };
}

const isOptionalPort = (text: string) => /^(:[0-9]*)?$/.test(text);

function parseHost(scheme: string, host: string): string {
  const bracket = host.lastIndexOf("[");
  if (bracket > 0) throw new UrlError("invalid IP-literal");
  if (bracket === 0) return parseBracketedHost(host);
  const first = host.indexOf(":");
  const colon = scheme === "http" || scheme === "https" ? first : host.lastIndexOf(":");
  if (colon >= 0 && !isOptionalPort(host.slice(colon)))
    throw new UrlError(`invalid port ${quoted(fromBytes(host.slice(colon)))} after host`);
  return decodePart(host, "host");
}

function parseBracketedHost(host: string): string {
  const close = host.lastIndexOf("]");
  if (close < 0) throw new UrlError("missing ']' in host");
  const port = host.slice(close + 1);
  if (!isOptionalPort(port)) throw new UrlError(`invalid port ${quoted(fromBytes(port))} after host`);
  const name = host.slice(1, close);
  const zone = name.indexOf("%25");
  const decoded =
    zone < 0
      ? decodePart(name, "host")
      : decodePart(name.slice(0, zone), "host") + decodePart(name.slice(zone), "zone");
  const address = parseIp(fromBytes(decoded));
  if (typeof address === "string") throw new UrlError(`invalid host: ${address}`);
  if (address.bytes.length === 4) throw new UrlError("invalid IP-literal");
  return `[${decoded}]${port}`;
}

function splitHostPort(hostPort: string): [host: string, port: string] {
  const colon = hostPort.lastIndexOf(":");
  const hasPort = colon >= 0 && isOptionalPort(hostPort.slice(colon));
  const host = hasPort ? hostPort.slice(0, colon) : hostPort;
  const port = hasPort ? hostPort.slice(colon + 1) : "";
  return [host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host, port];
}
