import { type ApiRequest, badRequest } from "@konverge/core";
import { isTrue } from "./query.ts";

/** What a path and method ask for, in Kubernetes' terms: the attributes that authorization and audit see. */
export interface RequestInfo {
  /** Decoded, as everything here. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** get, list, watch, create, update, patch, delete, deletecollection; for other paths the method in lower case. */
  readonly verb: string;
  readonly isResource: boolean;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** What follows the subresource: see {@link subpathOf}. */
  readonly rest: string;
}

const METHOD_VERBS: ReadonlyMap<string, string> = new Map([
  ["GET", "get"],
  ["HEAD", "get"],
  ["POST", "create"],
  ["PUT", "update"],
  ["PATCH", "patch"],
  ["DELETE", "delete"],
]);

/** Subresources of a namespace; anything else below `/namespaces/NAME/` is a resource in it. */
const NAMESPACE_SUBRESOURCES = new Set(["status", "finalize"]);

/**
 * Reads a request's path. Paths outside /api and /apis, and discovery paths, are not resource requests. As in Go, the path is
 * decoded before it is split: an encoded slash is a slash, for authorization as for the handler.
 */
export function requestInfo(request: Pick<ApiRequest, "method" | "path">): RequestInfo {
  const question = request.path.indexOf("?");
  const path = decoded(question < 0 ? request.path : request.path.slice(0, question));
  const query = parametersOf(question < 0 ? "" : request.path.slice(question + 1));
  const other = (verb = request.method.toLowerCase(), group = "", version = ""): RequestInfo => ({
    path,
    query,
    verb,
    isResource: false,
    group,
    version,
    resource: "",
    subresource: "",
    namespace: "",
    name: "",
    rest: "",
  });

  const [root, ...after] = withoutSlashes(path).split("/");
  if (root !== "api" && root !== "apis") return other();
  const groupLength = root === "api" ? 1 : 2;
  if (after.length <= groupLength - 1) return other();
  const [group, version] = root === "api" ? ["", after[0]!] : [after[0]!, after[1]!];
  let parts = after.slice(groupLength);
  if (parts.length === 0) return other(undefined, group, version);

  // Prefixes of old: watch is still served, proxy is authorized as a verb of what follows it, and found nowhere.
  let prefix = "";
  if (parts.length > 1 && (parts[0] === "watch" || parts[0] === "proxy")) {
    prefix = parts[0];
    parts = parts.slice(1);
  }
  let namespace = "";
  if (parts[0] === "namespaces" && parts.length > 1) {
    namespace = parts[1]!;
    if (parts.length > 2 && !NAMESPACE_SUBRESOURCES.has(parts[2]!)) parts = parts.slice(2);
  }
  const [resource, name = "", subresource = "", ...rest] = parts as [string, string?, string?, ...string[]];
  const verb = verbOf(request.method, name, query, prefix);
  return {
    path,
    query,
    verb,
    isResource: true,
    group,
    version,
    resource,
    subresource,
    namespace,
    name,
    rest: rest.join("/"),
  };
}

/** As many as Go's parser reads. An anonymous request with half a million of them would take a second. */
const MOST_PARAMETERS = 10_000;

function parametersOf(text: string): URLSearchParams {
  let count = 1;
  for (let at = text.indexOf("&"); at >= 0; at = text.indexOf("&", at + 1)) count++;
  if (count > MOST_PARAMETERS) {
    throw badRequest(`the query of the request has ${count} parameters: send ${MOST_PARAMETERS} or fewer`);
  }
  return new URLSearchParams(text);
}

function verbOf(method: string, name: string, query: URLSearchParams, prefix: string): string {
  if (prefix !== "") return prefix;
  const verb = METHOD_VERBS.get(method) ?? method.toLowerCase();
  if (verb === "get" && name === "") return isTrue(query.get("watch")) ? "watch" : "list";
  return verb === "delete" && name === "" ? "deletecollection" : verb;
}

function decoded(path: string): string {
  if (!path.includes("%")) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    throw badRequest(`the path ${JSON.stringify(path)} is not valid percent-encoding`);
  }
}

/** Without those at both ends; those in between separate empty segments. */
function withoutSlashes(path: string): string {
  let [start, end] = [0, path.length];
  while (start < end && path[start] === "/") start++;
  while (end > start && path[end - 1] === "/") end--;
  return path.slice(start, end);
}

/** A decoded path as it goes over the wire. */
export function encodedPath(path: string): string {
  return encodeURI(path.toWellFormed()).replace(/[?#]/g, (character) => (character === "?" ? "%3F" : "%23"));
}

/** What a proxy request asks of the one behind the proxy: empty, or a path that begins with a slash, encoded. */
export function subpathOf({ rest, path }: RequestInfo): string {
  const subpath = rest === "" || rest.startsWith("/") ? rest : `/${rest}`;
  return encodedPath(path.endsWith("/") && !subpath.endsWith("/") ? `${subpath}/` : subpath);
}

const STREAMS = new Set(["attach", "exec", "proxy", "log", "portforward"]);

/** Whether a request may take as long as it takes: no time limit is read from it, and no seat is held for it. */
export function isLongRunning({ isResource, verb, subresource }: RequestInfo): boolean {
  return isResource && (verb === "watch" || STREAMS.has(subresource));
}
