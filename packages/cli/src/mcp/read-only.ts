import { ApiError, type Transport } from "@konverge/core";

/** What a user asks about itself: it is sent with POST, and writes nothing. */
const ABOUT_ONESELF = /^\/apis\/(?:authorization|authentication)\.k8s\.io\/v1\/selfsubject\w+$/;

/** A transport that refuses everything that writes, and all that reaches nodes, pods and Services through the API server. */
export function readOnlyTransport(inner: Transport): Transport {
  return async (request) => {
    const path = request.path.split("?")[0]!;
    const isReading = request.method === "GET" && !/\/(?:proxy|exec|attach|portforward)(?:\/|$)/.test(path);
    if (!isReading && !ABOUT_ONESELF.test(path)) {
      const message = "this server is read-only: start it with --allow-writes";
      throw new ApiError({
        kind: "Status",
        apiVersion: "v1",
        status: "Failure",
        reason: "Forbidden",
        code: 403,
        message,
      });
    }
    return inner(request);
  };
}
