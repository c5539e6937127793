import type { KindRef, KubeObject } from "@konverge/core";
import type { UserInfo } from "@konverge/kinds";
import type { Caller } from "./call.ts";
import type { ImpersonatedUser } from "./impersonation.ts";
import type { CallOptions } from "./options.ts";

/** A question about permissions: to use a verb on a kind or its objects, or on a path such as `/metrics`. */
export type AccessReviewQuery =
  | {
      verb: string;
      kind: Pick<KindRef<KubeObject>, "group" | "plural">;
      version?: string;
      subresource?: string;
      /** Absent: in all namespaces. */
      namespace?: string;
      name?: string;
    }
  | { verb: string; path: string };

export interface AccessReviewResult {
  allowed: boolean;
  /** Explicitly denied, whatever other authorizers decide. */
  denied?: boolean;
  reason?: string;
  evaluationError?: string;
}

/** The permissions of a user in a namespace, as far as the server's authorizers can list them. */
export interface AccessReviewRules {
  resourceRules: { verbs: string[]; apiGroups?: string[]; resources?: string[]; resourceNames?: string[] }[];
  nonResourceRules: { verbs: string[]; nonResourceURLs?: string[] }[];
  incomplete: boolean;
  evaluationError?: string;
}

export interface TokenReviewResult {
  authenticated?: boolean;
  user?: UserInfo;
  audiences?: string[];
  error?: string;
}

export interface ServiceAccountTokenOptions extends CallOptions {
  /** The audiences of the token. Default: the API server. */
  audiences?: readonly string[];
  /** Default: the server's, an hour. */
  expirationSeconds?: number;
  /** The token becomes invalid when this object is deleted. */
  boundObjectRef?: { kind: string; apiVersion: string; name: string; uid?: string };
}

export interface ServiceAccountToken {
  token: string;
  expirationTimestamp: string;
}

/** Reviews are objects that are created for the sake of the status they come back with. */
async function review<Status>(
  caller: Caller,
  group: string,
  resource: string,
  kind: string,
  spec: object | undefined,
  options: CallOptions,
): Promise<Status> {
  const apiVersion = `${group}/v1`;
  const call = {
    method: "POST",
    path: `/apis/${apiVersion}/${resource}`,
    changesNothing: true,
    body: { apiVersion, kind, metadata: {}, ...(spec && { spec }) },
  };
  return (await caller.json<{ status: Status }>(call, options)).status;
}

export function reviewAccess(
  caller: Caller,
  question: AccessReviewQuery,
  who: ImpersonatedUser | undefined,
  options: CallOptions,
): Promise<AccessReviewResult> {
  const attributes =
    "path" in question
      ? { nonResourceAttributes: { verb: question.verb, path: question.path } }
      : { resourceAttributes: resourceAttributes(question) };
  const group = "authorization.k8s.io";
  return who
    ? review(caller, group, "subjectaccessreviews", "SubjectAccessReview", { ...attributes, ...who }, options)
    : review(caller, group, "selfsubjectaccessreviews", "SelfSubjectAccessReview", attributes, options);
}

function resourceAttributes(question: Exclude<AccessReviewQuery, { path: string }>): object {
  const { verb, kind, version, subresource, namespace, name } = question;
  return {
    verb,
    group: kind.group,
    resource: kind.plural,
    ...(version && { version }),
    ...(subresource && { subresource }),
    ...(namespace && { namespace }),
    ...(name && { name }),
  };
}

export function reviewRules(caller: Caller, namespace: string, options: CallOptions): Promise<AccessReviewRules> {
  const group = "authorization.k8s.io";
  return review(caller, group, "selfsubjectrulesreviews", "SelfSubjectRulesReview", { namespace }, options);
}

export async function reviewSelf(caller: Caller, options: CallOptions): Promise<UserInfo> {
  const group = "authentication.k8s.io";
  const resource = "selfsubjectreviews";
  return (await review<{ userInfo: UserInfo }>(caller, group, resource, "SelfSubjectReview", undefined, options))
    .userInfo;
}

export function reviewToken(
  caller: Caller,
  token: string,
  audiences: readonly string[] | undefined,
  options: CallOptions,
): Promise<TokenReviewResult> {
  const spec = { token, ...(audiences && { audiences }) };
  return review(caller, "authentication.k8s.io", "tokenreviews", "TokenReview", spec, options);
}

/** Asks for a service account's token at its `token` subresource. */
export async function issueToken(
  caller: Caller,
  path: string,
  options: ServiceAccountTokenOptions,
): Promise<ServiceAccountToken> {
  const { audiences, expirationSeconds, boundObjectRef } = options;
  const body = {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    metadata: {},
    spec: {
      audiences: audiences ?? [],
      ...(expirationSeconds !== undefined && { expirationSeconds }),
      ...(boundObjectRef && { boundObjectRef }),
    },
  };
  return (await caller.json<{ status: ServiceAccountToken }>({ method: "POST", path, body }, options)).status;
}
