import { type ApiRequest, type ApiResponse, badRequest } from "@konverge/core";
import type { User } from "../auth/user.ts";
import { encodedPath, type RequestInfo } from "../http/request-info.ts";
import type { Store } from "../storage/store.ts";
import type { RemoteService } from "./api-services.ts";
import type { CallExtension } from "./extension-call.ts";
import { identityHeaders, passedOn } from "./identity-headers.ts";
import { targetOf } from "./service-address.ts";

/** Passes a request on to the server behind an APIService, with the identity of its user. */
export async function proxied(
  call: CallExtension,
  store: Store,
  remote: RemoteService,
  { request, info, user }: { request: ApiRequest; info: Pick<RequestInfo, "path" | "query">; user: User },
): Promise<ApiResponse> {
  checkPath(info.path);
  if (!remote.available) return unavailable("service unavailable");
  let target: ReturnType<typeof targetOf>;
  try {
    target = targetOf(store, remote);
  } catch {
    return unavailable("service unavailable");
  }
  const headers = {
    ...passedOn(request.headers),
    ...identityHeaders(user),
    "x-forwarded-uri": encodedPath(info.path),
    "x-forwarded-host": `${target.host}:${target.port}`,
    "x-forwarded-proto": "https",
  };
  try {
    return await call(target, { ...request, path: pathAndQuery(info), headers });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return unavailable(`error trying to reach service: ${why}`);
  }
}

/** The request as it was authorized: the other server must not read more out of it than this one has. */
function pathAndQuery({ path, query }: Pick<RequestInfo, "path" | "query">): string {
  return query.size === 0 ? encodedPath(path) : `${encodedPath(path)}?${query}`;
}

/** Some servers clean paths before they route them: that would lead to objects that were not asked about. */
function checkPath(path: string): void {
  if (/\/(\.{0,2}\/|\.\.?$)/.test(path))
    throw badRequest(`the path ${JSON.stringify(path)} has empty segments, or segments of dots alone: leave them out`);
}

/** The response when the server is unavailable. It is plain text, not a Status. */
function unavailable(text: string): ApiResponse {
  const headers = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };
  return { status: 503, headers, body: `${text}\n` };
}
