import { type ApiResponse, stringifyJson } from "@konverge/core";
import { requestToken } from "../auth/reviews/token-request.ts";
import type { ServiceAccountTokens } from "../auth/tokens/service-account-tokens.ts";
import type { PathHandler, SubresourceHandler } from "../extensions.ts";
import { bodyResponse } from "../representation/answer.ts";
import { bodyKind, readCreate } from "./body-kinds.ts";

const TOKEN_REQUEST = bodyKind("authentication.k8s.io", "v1", "TokenRequest", "authentication.v1.TokenRequest");

/** Answers requests to `serviceaccounts/NAME/token`. */
export function issueToken(tokens: ServiceAccountTokens): SubresourceHandler {
  return async (given) => {
    const { call, object: draft } = readCreate(given, TOKEN_REQUEST);
    const { namespace, name } = call.info;
    const object = (await call.admission.mutate(call, draft, undefined, "CREATE")) ?? draft;
    await call.admission.validate(call, object, undefined, "CREATE");
    const issued = requestToken(call.store, call.clock, tokens, { namespace, name, object });
    return bodyResponse(201, TOKEN_REQUEST.codec.canonical(issued), call.form);
  };
}

/** The documents by which others verify service-account tokens. */
export function openIdDocuments(tokens: ServiceAccountTokens, server: () => string): PathHandler {
  const answer = (type: string, document: object): ApiResponse => ({
    status: 200,
    headers: { "content-type": type, "cache-control": "public, max-age=3600" },
    body: stringifyJson(document),
  });
  return (_request, info) => {
    if (info.path === "/.well-known/openid-configuration") {
      return answer("application/json", tokens.openIdConfiguration(`https://${server()}/openid/v1/jwks`));
    }
    return info.path === "/openid/v1/jwks" ? answer("application/jwk-set+json", tokens.jsonWebKeys()) : undefined;
  };
}
