import { type AnyObject, badRequest, type Clock, timestamp } from "@konverge/core";
import type { Authenticator } from "../authenticator.ts";
import type { ServiceAccountTokens } from "../tokens/service-account-tokens.ts";
import type { User } from "../user.ts";
import type { CheckedReview } from "./review-errors.ts";

/** Answers a SelfSubjectReview: who am I? */
export function reviewSelf(clock: Clock, review: AnyObject, user: User): CheckedReview {
  return () => ({
    kind: "SelfSubjectReview",
    apiVersion: review.apiVersion,
    metadata: { creationTimestamp: timestamp(clock) } as AnyObject["metadata"],
    status: { userInfo: userInfo(user) },
  });
}

/** Answers a TokenReview: whose token is this? */
export function reviewToken(
  authenticator: Authenticator,
  serviceAccounts: ServiceAccountTokens,
  review: AnyObject,
): CheckedReview {
  const { token, audiences } = (review["spec"] ?? {}) as { token?: string; audiences?: string[] };
  if (!token) throw badRequest("token is required for TokenReview in authentication");
  return () => tokenAnswer(authenticator, review, token, audiences?.length ? audiences : serviceAccounts.audiences);
}

function tokenAnswer(
  authenticator: Authenticator,
  review: AnyObject,
  token: string,
  asked: readonly string[],
): AnyObject {
  const verdict = authenticator.authenticateToken(token, asked);
  if (verdict.user) {
    const { user, audiences: accepted } = verdict;
    return { ...review, status: { authenticated: true, user: userInfo(user), audiences: accepted } };
  }
  const error = verdict.error ? `[invalid bearer token, ${verdict.error}]` : "invalid bearer token";
  return { ...review, status: { user: {}, error } };
}

function userInfo({ name, uid, groups, extra }: User): object {
  return {
    username: name,
    ...(uid && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(extra && Object.keys(extra).length > 0 && { extra }),
  };
}
