import type { ApiRequest, ApiResponse, Transport } from "@konverge/core";
import { type RequestTarget, targetOf } from "../request-target.ts";
import { covers, type Permission } from "./access.ts";

/** Everybody who is known to the server may ask these. */
const EVERYBODY = new Set(["selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews"]);

/**
 * Records the permissions that a client uses, so that a test shows the smallest sufficient role:
 *
 * ```ts
 * const recorder = new PermissionRecorder();
 * const client = new Client(recorder.transport(server.transport));
 * ```
 */
export class PermissionRecorder {
  readonly #seen = new Map<string, Permission>();

  /** A transport that records requests. */
  readonly transport = (inner: Transport): Transport => {
    return async (request) => {
      const answer = await inner(request);
      for (const access of usedPermissions(request, answer)) this.#seen.set(JSON.stringify(access), access);
      return answer;
    };
  };

  /** The permissions that were used: by namespace, or (default) for all namespaces. */
  permissions(options: { byNamespace?: boolean } = {}): Permission[] {
    const all = [...this.#seen.values()];
    if (options.byNamespace) return all;
    const anywhere = all.map(({ verb, group, resource }) => ({ verb, group, resource }));
    return anywhere.filter((one, i) => anywhere.findIndex((other) => covers(other, one)) === i);
  }
}

/** The differences between declared and used permissions. */
export interface PermissionDifference {
  /** Used, but not declared: forbidden under the declared role. */
  readonly missing: Permission[];
  /** Declared, but not used: unnecessary, or not tested. Permissions that are needed rarely are not listed. */
  readonly superfluous: Permission[];
}

/** Compares declared permissions with those that were used. */
export function comparePermissions(
  declared: readonly Permission[],
  observed: readonly Permission[],
): PermissionDifference {
  return {
    missing: observed.filter((one) => !declared.some((held) => covers(held, one))),
    superfluous: declared.filter((held) => !held.rare && !observed.some((one) => sameThing(held, one))),
  };
}

/** Seen anywhere counts: a test has fewer namespaces than a cluster. */
const sameThing = (held: Permission, one: Permission) =>
  held.verb === one.verb && held.group === one.group && held.resource === one.resource;

/** Opening these, by whatever verb, requires the permission to create them. */
const STREAMS = /^pods\/(exec|attach|portforward)$/;

/** The permissions that a request needs, given its response. */
export function usedPermissions(
  { method, path, headers }: ApiRequest,
  { status }: Pick<ApiResponse, "status">,
): Permission[] {
  const target = targetOf(path);
  if (!target || EVERYBODY.has(target.plural)) return [];
  const who = headers["impersonate-user"];
  // What is done as another user must be allowed to that user.
  if (who !== undefined) return [impersonation(String(who))];
  const { group, namespace, name } = target;
  const place = { group, resource: resourceOf(target), ...(namespace && { namespace }) };
  const verb = verbOf(method, name !== undefined, /^(true|1)$/i.test(target.query.get("watch") ?? ""));
  const access: Permission = { verb, ...place, ...(name !== undefined && { name }) };
  // What creates on its way must be allowed to create.
  const creates = ((verb === "patch" || verb === "update") && status === 201) || STREAMS.test(place.resource);
  return creates ? [access, { verb: "create", ...place }] : [access];
}

/** The permission to impersonate: service accounts are a separate resource, all others are `users`. */
function impersonation(user: string): Permission {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user) ?? [];
  if (namespace === undefined) return { verb: "impersonate", group: "", resource: "users", name: user };
  return { verb: "impersonate", group: "", resource: "serviceaccounts", namespace, ...(name && { name }) };
}

const resourceOf = ({ plural, subresource }: RequestTarget) => (subresource ? `${plural}/${subresource}` : plural);

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
