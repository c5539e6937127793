import type { ApiRequest, ApiResponse } from "@konverge/core";
import type { User } from "../auth/user.ts";
import type { RequestInfo } from "../http/request-info.ts";
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
  { request, info, user }: { request: ApiRequest; info: Pick<RequestInfo, "path">; user: User },
): Promise<ApiResponse> {
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
    "x-forwarded-uri": info.path,
    "x-forwarded-host": `${target.host}:${target.port}`,
    "x-forwarded-proto": "https",
  };
  try {
    return await call(target, { ...request, headers });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return unavailable(`error trying to reach service: ${why}`);
  }
}

/** The response when the server is unavailable. It is plain text, not a Status. */
function unavailable(text: string): ApiResponse {
  const headers = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };
  return { status: 503, headers, body: `${text}\n` };
}
