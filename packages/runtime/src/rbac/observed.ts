import type { ApiRequest, ApiResponse, Transport } from "@konverge/core";
import { type Access, covers } from "./access.ts";

/** Everybody who is known to the server may ask these. */
const EVERYBODY = new Set(["selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews"]);

/**
 * Notes what a client asks for, so that the least that it must be allowed is known after a test:
 *
 * ```ts
 * const recorder = new AccessRecorder();
 * const client = new Client(recorder.transport(server.transport));
 * ```
 */
export class AccessRecorder {
  readonly #seen = new Map<string, Access>();

  /** A transport that notes what passes. */
  readonly transport = (inner: Transport): Transport => {
    return async (request) => {
      const answer = await inner(request);
      for (const access of accessOf(request, answer)) this.#seen.set(JSON.stringify(access), access);
      return answer;
    };
  };

  /** What has been asked for: by namespace, or (the default) as if every namespace were meant. */
  accesses(options: { byNamespace?: boolean } = {}): Access[] {
    const all = [...this.#seen.values()];
    if (options.byNamespace) return all;
    const anywhere = all.map(({ verb, group, resource }) => ({ verb, group, resource }));
    return anywhere.filter((one, i) => anywhere.findIndex((other) => covers(other, one)) === i);
  }
}

/** How what is declared and what was seen differ. */
export interface AccessDifference {
  /** Done, but not declared: it would be forbidden under the declared role. */
  readonly missing: Access[];
  /** Declared, but never done: too much, or not tested. What is needed only rarely is left out. */
  readonly superfluous: Access[];
}

/** Compares a role with what was done under it. */
export function compareAccess(declared: readonly Access[], observed: readonly Access[]): AccessDifference {
  return {
    missing: observed.filter((one) => !declared.some((held) => covers(held, one))),
    superfluous: declared.filter((held) => !held.rare && !observed.some((one) => sameThing(held, one))),
  };
}

/** Seen anywhere counts: a test has fewer namespaces than a cluster. */
const sameThing = (held: Access, one: Access) =>
  held.verb === one.verb && held.group === one.group && held.resource === one.resource;

function accessOf({ method, path }: ApiRequest, { status }: ApiResponse): Access[] {
  const { pathname, searchParams } = new URL(path, "http://localhost");
  const parts = pathname
    .split("/")
    .filter((part) => part !== "")
    .map(decodeURIComponent);
  const core = parts[0] === "api";
  if (!core && parts[0] !== "apis") return [];
  const group = core ? "" : parts[1];
  let rest = parts.slice(core ? 2 : 3);
  if (group === undefined || rest.length === 0) return [];
  let namespace: string | undefined;
  // `namespaces/x/pods` is about pods, `namespaces/x` and `namespaces/x/status` about the namespace.
  if (rest[0] === "namespaces" && rest.length > 2 && rest[2] !== "status" && rest[2] !== "finalize") {
    namespace = rest[1];
    rest = rest.slice(2);
  }
  const [plural = "", name, subresource] = rest;
  if (EVERYBODY.has(plural)) return [];
  const resource = subresource ? `${plural}/${subresource}` : plural;
  const place = { group, resource, ...(namespace && { namespace }) };
  const verb = verbOf(method, name !== undefined, searchParams.get("watch") === "true");
  const access: Access = { verb, ...place, ...(name !== undefined && { name }) };
  // What creates on its way must be allowed to create.
  const creates = (verb === "patch" || verb === "update") && status === 201;
  return creates ? [access, { verb: "create", ...place }] : [access];
}

function verbOf(method: string, named: boolean, watching: boolean): string {
  switch (method) {
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "PATCH":
      return "patch";
    case "DELETE":
      return named ? "delete" : "deletecollection";
    default:
      return watching ? "watch" : named ? "get" : "list";
  }
}
