import { ApiError, append, badRequest, type HeaderMap, headerOf, headerValues, quoted } from "@konverge/core";
import { type Attributes, forbiddenError, resourceAttributes } from "./attributes.ts";
import { extraProblem } from "./impersonated-extra.ts";
import type { Authorizer } from "./rbac/authorizer.ts";
import {
  ANONYMOUS,
  AUTHENTICATED,
  MASTERS,
  nodeOf,
  serviceAccountGroups,
  serviceAccountOf,
  UNAUTHENTICATED,
  type User,
} from "./user.ts";

/** Whom a request is to be carried out as. */
export interface Impersonation {
  readonly user: User;
  /** The verb that allowed it, for the audit log; empty when it was plain `impersonate`. */
  readonly constraint: string;
}

type Wanted = Required<User>;

/**
 * A way to be allowed to impersonate. The constrained ones need two permissions: `impersonate:MODE` for whom, and
 * `impersonate-on:MODE:VERB` for what is then done; the last is the older `impersonate`, which allows everything.
 */
interface Mode {
  readonly name: string;
  readonly constrained: boolean;
  appliesTo(wanted: Wanted, requestor: User): boolean;
}

const MODES: readonly Mode[] = [
  { name: "associated-node", constrained: true, appliesTo: (wanted, requestor) => isOwnNode(wanted, requestor) },
  { name: "arbitrary-node", constrained: true, appliesTo: (wanted) => isNameAlone(wanted) && !!nodeOf(wanted.name) },
  {
    name: "serviceaccount",
    constrained: true,
    appliesTo: (wanted) => isNameAlone(wanted) && !!serviceAccountOf(wanted.name),
  },
  {
    name: "user-info",
    constrained: true,
    appliesTo: (wanted) => !nodeOf(wanted.name) && !serviceAccountOf(wanted.name),
  },
  { name: "", constrained: false, appliesTo: () => true },
];

/** From this many groups or extra values on, permission for all of them at once is asked for first. */
const MANY = 4;
const MOST_REMEMBERED = 10_000;

/** Lets users act as others, by the Impersonate headers, as far as their roles allow. */
export class Impersonator {
  readonly #authorizer: Authorizer;
  /** The mode that last worked for a user is tried first, and its error is the one that is shown. */
  readonly #lastMode = new Map<string, Mode>();

  constructor(authorizer: Authorizer) {
    this.#authorizer = authorizer;
  }

  /** Undefined when the request does not ask for it. Throws what a real server answers when it is not allowed. */
  impersonate(requestor: User, headers: HeaderMap, action: Attributes): Impersonation | undefined {
    const wanted = wantedUser(headers);
    if (!wanted) return undefined;
    const last = this.#lastMode.get(requestor.name);
    let firstError: unknown;
    for (const mode of last ? [last, ...MODES.filter((each) => each !== last)] : MODES) {
      if (!mode.appliesTo(wanted, requestor)) continue;
      try {
        const user = this.#check(mode, wanted, requestor, action);
        if (this.#lastMode.size >= MOST_REMEMBERED) this.#lastMode.clear();
        this.#lastMode.set(requestor.name, mode);
        return { user, constraint: mode.constrained ? `impersonate:${mode.name}` : "" };
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        firstError ??= error;
      }
    }
    throw firstError;
  }

  #check(mode: Mode, wanted: Wanted, requestor: User, action: Attributes): User {
    if (mode.constrained) this.#require(requestor, { ...action, verb: `impersonate-on:${mode.name}:${action.verb}` });
    const verb = mode.constrained ? `impersonate:${mode.name}` : "impersonate";
    const ask = (rest: Partial<Attributes>) => this.#require(requestor, resourceAttributes(verb, rest));
    const group = mode.constrained ? "authentication.k8s.io" : "";
    const node = mode.constrained ? nodeOf(wanted.name) : undefined;
    const account = serviceAccountOf(wanted.name);
    let groups = wanted.groups;

    if (node) {
      // Which node it is was checked already: this permission is for whatever node the pod runs on.
      ask({ group, resource: "nodes", name: mode.name === "associated-node" ? "*" : node });
      groups = ["system:nodes"];
    } else if (account) {
      ask({ group, resource: "serviceaccounts", ...account });
      if (groups.length === 0) groups = serviceAccountGroups(account.namespace);
    } else ask({ group, resource: "users", name: wanted.name });
    if (wanted.uid !== "") ask({ group: "authentication.k8s.io", resource: "uids", name: wanted.uid });
    this.#checkGroups(mode, requestor, verb, group, wanted.groups);
    this.#checkExtra(mode, requestor, verb, wanted.extra);
    return withStandardGroup({ ...wanted, groups });
  }

  #checkGroups(mode: Mode, requestor: User, verb: string, group: string, groups: readonly string[]): void {
    const of = (name: string) => resourceAttributes(verb, { group, resource: "groups", name });
    if (mode.constrained) {
      if (groups.includes("")) {
        throw forbiddenError(requestor, of(""), "impersonating the empty string group is not allowed");
      }
      if (groups.includes(MASTERS)) {
        throw forbiddenError(requestor, of(MASTERS), "impersonating the system:masters group is not allowed");
      }
      if (groups.length >= MANY && this.#authorizer.authorize(requestor, of("*")).allowed) return;
    }
    for (const name of groups) this.#require(requestor, of(name));
  }

  #checkExtra(mode: Mode, requestor: User, verb: string, extra: Wanted["extra"]): void {
    const of = (subresource: string, name: string) =>
      resourceAttributes(verb, { group: "authentication.k8s.io", resource: "userextras", subresource, name });
    const entries = Object.entries(extra);
    if (mode.constrained) {
      const problem = extraProblem(extra);
      if (problem) throw forbiddenError(requestor, of("", ""), problem);
      const count = entries.reduce((sum, [, values]) => sum + values.length, 0);
      if ((entries.length >= MANY || count >= MANY) && this.#authorizer.authorize(requestor, of("*", "*")).allowed) {
        return;
      }
    }
    for (const [key, values] of entries) for (const value of values) this.#require(requestor, of(key, value));
  }

  #require(requestor: User, action: Attributes): void {
    const { allowed, reason } = this.#authorizer.authorize(requestor, action);
    if (!allowed) throw forbiddenError(requestor, action, reason);
  }
}

/** The headers without those that were about impersonation: nothing further on may depend on them. */
export function withoutImpersonation(headers: HeaderMap): HeaderMap {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith("impersonate-")));
}

const EXTRA_PREFIX = "impersonate-extra-";

function wantedUser(headers: HeaderMap): Wanted | undefined {
  if (!wantsAnything(headers)) return undefined;
  const name = headerOf(headers, "impersonate-user") ?? "";
  const uid = headerOf(headers, "impersonate-uid") ?? "";
  const groups = [...headerValues(headers, "impersonate-group")];
  const extra = extraOf(headers);
  if (name !== "") return { name, uid, groups, extra };
  if (uid === "" && groups.length === 0 && Object.keys(extra).length === 0) return undefined;
  throw badRequest(`requested ${inGo(uid, groups, extra)} without impersonating a user name`);
}

/** Clients choose the keys: `constructor`, which every object has, is one like others. */
function extraOf(headers: HeaderMap): Record<string, string[]> {
  const extra = new Map<string, string[]>();
  for (const header of Object.keys(headers).sort()) {
    if (!header.startsWith(EXTRA_PREFIX)) continue;
    const key = decodeKey(header.slice(EXTRA_PREFIX.length));
    const values = extra.get(key) ?? [];
    append(values, headerValues(headers, header));
    extra.set(key, values);
  }
  return Object.fromEntries(extra);
}

function wantsAnything(headers: HeaderMap): boolean {
  for (const name in headers) if (name.startsWith("impersonate-")) return true;
  return false;
}

function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

/** The message shows what was asked for as the Go value it is over there. */
function inGo(uid: string, groups: readonly string[], extra: Record<string, string[]>): string {
  const strings = (values: readonly string[]) => `[]string{${values.map(quoted).join(", ")}}`;
  const entries = Object.entries(extra).map(([key, values]) => `${quoted(key)}:${strings(values)}`);
  const groupText = groups.length === 0 ? "[]string(nil)" : strings(groups);
  const extraText = entries.length === 0 ? "map[string][]string(nil)" : `map[string][]string{${entries.join(", ")}}`;
  return `&user.DefaultInfo{Name:"", UID:${quoted(uid)}, Groups:${groupText}, Extra:${extraText}}`;
}

function withStandardGroup(user: Wanted): User {
  const { groups } = user;
  const group = user.name === ANONYMOUS ? UNAUTHENTICATED : AUTHENTICATED;
  const has = groups.includes(group) || (group === AUTHENTICATED && groups.includes(UNAUTHENTICATED));
  return {
    name: user.name,
    groups: has ? groups : [...groups, group],
    ...(user.uid !== "" && { uid: user.uid }),
    ...(Object.keys(user.extra).length > 0 && { extra: user.extra }),
  };
}

function isNameAlone({ uid, groups, extra }: Wanted): boolean {
  return uid === "" && groups.length === 0 && Object.keys(extra).length === 0;
}

/** A service account may be allowed to act as the node that its pod runs on. */
function isOwnNode(wanted: Wanted, requestor: User): boolean {
  const node = nodeOf(wanted.name);
  const own = requestor.extra?.["authentication.kubernetes.io/node-name"];
  return !!node && isNameAlone(wanted) && !!serviceAccountOf(requestor.name) && own?.length === 1 && own[0] === node;
}
