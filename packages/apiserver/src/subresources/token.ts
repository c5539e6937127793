import { type ApiResponse, type Clock, stringifyJson } from "@konverge/core";
import { builtinSchema } from "@konverge/kinds";
import { FieldManager } from "@konverge/schema/structured-merge";
import { requestToken } from "../auth/reviews/token-request.ts";
import type { ServiceAccountTokens } from "../auth/tokens/service-account-tokens.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import type { PathHandler, SubresourceHandler } from "../extensions.ts";
import { bodyResponse } from "../representation/answer.ts";
import { managerName } from "../verbs/managed-fields.ts";
import { matchNamespace } from "../verbs/metadata.ts";
import { bodyKind, readCreate } from "./body-kinds.ts";

const TOKEN_REQUEST = bodyKind("authentication.k8s.io", "v1", "TokenRequest", "authentication.v1.TokenRequest");

/** Records who asked for which fields, as in everything that is created. */
function fieldManager(clock: Clock): FieldManager {
  const { group, version, kind, codec } = TOKEN_REQUEST;
  return new FieldManager({
    kind: { group, version, kind },
    schema: builtinSchema(group, version, kind)!,
    clock,
    subresource: "token",
    empty: codec.zero,
  });
}

/** Answers requests to `serviceaccounts/NAME/token`. */
export function issueToken(tokens: ServiceAccountTokens): SubresourceHandler {
  return async (given) => {
    const { call, object: draft } = readCreate(given, TOKEN_REQUEST);
    const { namespace, name } = call.info;
    matchNamespace(call, draft.metadata);
    const owned = fieldManager(call.clock).update(undefined, draft, managerName(call)) as WorkingObject;
    const object = (await call.admission.mutate(call, owned, undefined, "CREATE")) ?? owned;
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
