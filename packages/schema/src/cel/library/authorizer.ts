/** `authorizer.group("apps").resource("deployments").check("create").allowed()`: questions to the authorizer. */
import { dns1123LabelErrors, dns1123SubdomainErrors } from "@konverge/core";
import type { Library } from "../types/declarations.ts";
import { CelError, noSuchOverload, Opaque, type Value } from "../values/values.ts";

/** Who asks. */
export interface AuthorizerUser {
  readonly name: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** What is asked: about a path, or about a resource. Selectors are given as they were written. */
export interface AuthorizationQuestion {
  readonly user: AuthorizerUser;
  readonly verb: string;
  readonly path?: string;
  readonly resource?: {
    readonly group: string;
    readonly resource: string;
    readonly subresource: string;
    readonly namespace: string;
    readonly name: string;
    readonly fieldSelector: string;
    readonly labelSelector: string;
  };
}

/** What was decided. */
export interface AuthorizationAnswer {
  readonly allowed: boolean;
  readonly reason?: string;
  /** What kept the authorizer from deciding. */
  readonly error?: string;
}

/** Decides; at once, since expressions do not wait. */
export type Authorizer = (question: AuthorizationQuestion) => AuthorizationAnswer;

abstract class Check extends Opaque {
  /** Two checks never compare: the API server knows no equality for them. */
  equal(other: Value): Value {
    return noSuchOverload(other);
  }
}

/** The variable `authorizer`. */
export class AuthorizerValue extends Check {
  readonly typeName = "kubernetes.authorization.Authorizer";
  readonly user: AuthorizerUser;
  readonly decide: Authorizer;
  constructor(user: AuthorizerUser, decide: Authorizer) {
    super();
    this.user = user;
    this.decide = decide;
  }
}

class PathCheck extends Check {
  readonly typeName = "kubernetes.authorization.PathCheck";
  readonly authorizer: AuthorizerValue;
  readonly path: string;
  constructor(authorizer: AuthorizerValue, path: string) {
    super();
    this.authorizer = authorizer;
    this.path = path;
  }
}

class GroupCheck extends Check {
  readonly typeName = "kubernetes.authorization.GroupCheck";
  readonly authorizer: AuthorizerValue;
  readonly group: string;
  constructor(authorizer: AuthorizerValue, group: string) {
    super();
    this.authorizer = authorizer;
    this.group = group;
  }
}

type Resource = NonNullable<AuthorizationQuestion["resource"]>;

/** A resource to ask about; what is not said is empty. */
export type RequestResource = Partial<Resource> & Pick<Resource, "group" | "resource">;

/** A check of a resource; the variable `authorizer.requestResource` is one of the request's own. */
export class ResourceCheck extends Check {
  readonly typeName = "kubernetes.authorization.ResourceCheck";
  readonly authorizer: AuthorizerValue;
  readonly resource: Resource;
  constructor(authorizer: AuthorizerValue, resource: RequestResource) {
    super();
    this.authorizer = authorizer;
    this.resource = { subresource: "", namespace: "", name: "", fieldSelector: "", labelSelector: "", ...resource };
  }
}

class Decision extends Check {
  readonly typeName = "kubernetes.authorization.Decision";
  readonly answer: AuthorizationAnswer;
  constructor(answer: AuthorizationAnswer) {
    super();
    this.answer = answer;
  }
}

function serviceAccount(authorizer: AuthorizerValue, namespace: string, name: string): Value {
  if (dns1123SubdomainErrors(name).length > 0) return new CelError("Invalid service account name");
  if (dns1123LabelErrors(namespace).length > 0) return new CelError("Invalid service account namespace");
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
  return new AuthorizerValue({ name: `system:serviceaccount:${namespace}:${name}`, groups }, authorizer.decide);
}

const narrow = (field: keyof Resource) => (check: ResourceCheck, value: string) =>
  new ResourceCheck(check.authorizer, { ...check.resource, [field]: value });

const T = "kubernetes.authorization";

/** Kubernetes' authorization checks. */
export const authorizer: Library = {
  overloads: [
    [
      "authorizer_path",
      `${T}.Authorizer.path(string): ${T}.PathCheck`,
      (a: AuthorizerValue, path: string) =>
        path.trim() === "" ? new CelError("path must not be empty") : new PathCheck(a, path),
    ],
    [
      "authorizer_group",
      `${T}.Authorizer.group(string): ${T}.GroupCheck`,
      (a: AuthorizerValue, group: string) => new GroupCheck(a, group),
    ],
    ["authorizer_serviceaccount", `${T}.Authorizer.serviceAccount(string, string): ${T}.Authorizer`, serviceAccount],
    [
      "groupcheck_resource",
      `${T}.GroupCheck.resource(string): ${T}.ResourceCheck`,
      ({ authorizer, group }: GroupCheck, resource: string) =>
        resource.trim() === ""
          ? new CelError("resource must not be empty")
          : new ResourceCheck(authorizer, { group, resource }),
    ],
    ["resourcecheck_subresource", `${T}.ResourceCheck.subresource(string): ${T}.ResourceCheck`, narrow("subresource")],
    ["resourcecheck_namespace", `${T}.ResourceCheck.namespace(string): ${T}.ResourceCheck`, narrow("namespace")],
    ["resourcecheck_name", `${T}.ResourceCheck.name(string): ${T}.ResourceCheck`, narrow("name")],
    [
      "authorizer_fieldselector",
      `${T}.ResourceCheck.fieldSelector(string): ${T}.ResourceCheck`,
      narrow("fieldSelector"),
    ],
    [
      "authorizer_labelselector",
      `${T}.ResourceCheck.labelSelector(string): ${T}.ResourceCheck`,
      narrow("labelSelector"),
    ],
    [
      "pathcheck_check",
      `${T}.PathCheck.check(string): ${T}.Decision`,
      ({ authorizer, path }: PathCheck, verb: string) =>
        new Decision(authorizer.decide({ user: authorizer.user, verb, path })),
    ],
    [
      "resourcecheck_check",
      `${T}.ResourceCheck.check(string): ${T}.Decision`,
      ({ authorizer, resource }: ResourceCheck, verb: string) =>
        new Decision(authorizer.decide({ user: authorizer.user, verb, resource })),
    ],
    ["decision_errored", `${T}.Decision.errored(): bool`, ({ answer }: Decision) => answer.error !== undefined],
    ["decision_error", `${T}.Decision.error(): string`, ({ answer }: Decision) => answer.error ?? ""],
    ["decision_allowed", `${T}.Decision.allowed(): bool`, ({ answer }: Decision) => answer.allowed],
    ["decision_reason", `${T}.Decision.reason(): string`, ({ answer }: Decision) => answer.reason ?? ""],
  ],
};
