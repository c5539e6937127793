/** Discovery, objects and schemas. */
const ROOTS: ReadonlySet<string> = new Set(["api", "apis", "openapi", "version"]);
/** What nodes, pods and Services answer would come from the origin of the console. */
const TO_PODS: ReadonlySet<string> = new Set(["proxy", "exec", "attach", "portforward"]);
/** Before a resource, these are older ways to write watches and proxies. */
const OLDER: ReadonlySet<string> = new Set(["watch", "proxy"]);
const OF_NAMESPACES: ReadonlySet<string> = new Set(["status", "finalize"]);

/** What the page requests of the API server, read as the API server reads it. */
export interface RequestedPath {
  /** Path and query, as they are sent on: nothing else can be read out of them. */
  readonly text: string;
  /** Decoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/**
 * Reads a path: decoded once, then split. Undefined for all that the console does not request: other roots, what reaches nodes,
 * pods and Services, older paths of watches, and paths that could be read in another way.
 */
export function requestedPath(target: string): RequestedPath | undefined {
  const question = target.indexOf("?");
  const path = decoded(question < 0 ? target : target.slice(0, question));
  if (path === undefined || !path.startsWith("/")) return undefined;
  const segments = path.slice(1).replace(/\/$/, "").split("/");
  if (segments.some((segment) => segment === "" || segment === "." || segment === "..")) return undefined;
  if (!ROOTS.has(segments[0]!) || reachesPods(segments)) return undefined;
  const query = new URLSearchParams(question < 0 ? "" : target.slice(question + 1));
  const sent = `/${segments.map(encodeURIComponent).join("/")}`;
  return { text: query.size === 0 ? sent : `${sent}?${query}`, path: `/${segments.join("/")}`, query };
}

function reachesPods([root, ...rest]: readonly string[]): boolean {
  if (root !== "api" && root !== "apis") return false;
  let parts = rest.slice(root === "api" ? 1 : 2);
  if (OLDER.has(parts[0] ?? "")) return true;
  if (parts[0] === "namespaces" && parts.length > 2 && !OF_NAMESPACES.has(parts[2]!)) parts = parts.slice(2);
  return TO_PODS.has(parts[2] ?? "");
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
