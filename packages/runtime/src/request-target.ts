/** What a request is about, as its path tells. */
export interface RequestTarget {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace?: string;
  /** Absent if it is about all objects of a kind. */
  readonly name?: string;
  readonly subresource?: string;
  readonly query: URLSearchParams;
}

/** The target of a request; undefined if it is about no resource, such as `/version`. */
export function targetOf(path: string): RequestTarget | undefined {
  const { pathname, searchParams: query } = new URL(path, "http://localhost");
  const parts = pathname
    .split("/")
    .filter((part) => part !== "")
    .map(decodeURIComponent);
  const core = parts[0] === "api";
  if (!core && parts[0] !== "apis") return undefined;
  const group = core ? "" : parts[1];
  const version = parts[core ? 1 : 2];
  let rest = parts.slice(core ? 2 : 3);
  if (group === undefined || version === undefined || rest.length === 0) return undefined;
  let namespace: string | undefined;
  // `namespaces/x/pods` is about pods, `namespaces/x` and `namespaces/x/status` about the namespace.
  if (rest[0] === "namespaces" && rest.length > 2 && rest[2] !== "status" && rest[2] !== "finalize") {
    namespace = rest[1];
    rest = rest.slice(2);
  }
  const [plural = "", name, subresource] = rest;
  return {
    group,
    version,
    plural,
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    ...(subresource !== undefined && { subresource }),
    query,
  };
}
