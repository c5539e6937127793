import { isIpv6 } from "./format-network.ts";

/** An absolute URI or an absolute path, as Go's url.ParseRequestURI takes it. */
export function isUri(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (text === "" || /[\u0000-\u001f\u007f]/.test(text) || text.startsWith(":")) return false;
  if (text === "*") return true;
  const scheme = /^([a-zA-Z][a-zA-Z0-9+\-.]*):/.exec(text)?.[1];
  const rest = (scheme === undefined ? text : text.slice(scheme.length + 1)).split("?")[0]!;
  if (!rest.startsWith("/")) return scheme !== undefined;
  if (scheme === undefined || !rest.startsWith("//")) return hasGoodEscapes(rest);
  const end = rest.indexOf("/", 2);
  const authority = end < 0 ? rest.slice(2) : rest.slice(2, end);
  return isAuthority(authority, scheme.toLowerCase()) && (end < 0 || hasGoodEscapes(rest.slice(end)));
}

function hasGoodEscapes(text: string): boolean {
  return !/%(?![0-9a-fA-F]{2})/.test(text);
}

function isAuthority(authority: string, scheme: string): boolean {
  const at = authority.lastIndexOf("@");
  if (!isHost(authority.slice(at + 1), scheme)) return false;
  const user = at < 0 ? "" : authority.slice(0, at);
  return /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user) && hasGoodEscapes(user);
}

function isHost(host: string, scheme: string): boolean {
  const open = host.lastIndexOf("[");
  if (open > 0) return false;
  if (open === 0) {
    const close = host.lastIndexOf("]");
    if (close < 0 || !isOptionalPort(host.slice(close + 1))) return false;
    const [address, zone] = splitOnce(host.slice(1, close), "%25");
    return isIpv6(address) && (zone === undefined || (zone !== "" && isHostText(zone)));
  }
  const first = host.indexOf(":");
  // Only http is strict about a second colon; some databases list several hosts.
  const colon = scheme === "http" || scheme === "https" ? first : host.lastIndexOf(":");
  return (first < 0 || isOptionalPort(host.slice(colon))) && isHostText(host);
}

function isOptionalPort(text: string): boolean {
  return /^(:[0-9]*)?$/.test(text);
}

/** Escapes in a host may only stand for bytes beyond ASCII. */
function isHostText(host: string): boolean {
  return /^(?:[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"\u0080-\u{10ffff}]|%25|%[89a-fA-F][0-9a-fA-F])*$/u.test(host);
}

function splitOnce(text: string, separator: string): [string, string?] {
  const index = text.indexOf(separator);
  return index < 0 ? [text] : [text.slice(0, index), text.slice(index + separator.length)];
}
