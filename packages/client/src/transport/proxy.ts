import { BlockList, isIP } from "node:net";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy through which a server is reached, if any: the one configured, or what the environment says (HTTPS_PROXY,
 * HTTP_PROXY and NO_PROXY, in capitals or not, as Go's and curl's users know them).
 */
export function proxyFor(server: URL, configured: string | undefined, env: Environment): URL | undefined {
  const names = server.protocol === "https:" ? ["HTTPS_PROXY", "https_proxy"] : ["HTTP_PROXY", "http_proxy"];
  const fromEnv = names.map((name) => env[name]).find((value) => value);
  const text = configured ?? (fromEnv && !isExempt(server, env.NO_PROXY ?? env.no_proxy ?? "") ? fromEnv : undefined);
  if (!text) return undefined;
  const url = URL.parse(text.includes("://") ? text : `http://${text}`);
  if (!url || !["http:", "https:", "socks5:", "socks5h:"].includes(url.protocol)) {
    throw new TypeError(`cannot use the proxy ${text}: expected an http, https or socks5 URL`);
  }
  return url;
}

function isExempt(server: URL, list: string): boolean {
  const host = server.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const port = server.port || (server.protocol === "https:" ? "443" : "80");
  if (host === "localhost" || isLoopback(host)) return true;
  return list
    .split(",")
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== "")
    .some((entry) => entry === "*" || covers(entry, host, port));
}

function covers(entry: string, host: string, port: string): boolean {
  if (entry.includes("/")) return inNetwork(entry, host);
  const [, name, onlyPort] = /^(.*?)(?::([0-9]+))?$/.exec(isIP(entry) === 6 ? `${entry}` : entry) ?? [];
  if (isIP(entry) === 6) return entry === host;
  if (onlyPort && onlyPort !== port) return false;
  const domain = name!.replace(/^\*?\./, "");
  return (host === domain && !name!.startsWith(".")) || host.endsWith(`.${domain}`);
}

function isLoopback(host: string): boolean {
  return host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

function inNetwork(cidr: string, host: string): boolean {
  const [address, bits] = cidr.split("/") as [string, string];
  const version = isIP(address);
  if (version === 0 || isIP(host) !== version) return false;
  const family = version === 4 ? "ipv4" : "ipv6";
  const network = new BlockList();
  network.addSubnet(address, Number(bits), family);
  return network.check(host, family);
}
