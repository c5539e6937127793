import { ApiError, type ApiResponse } from "@konverge/core";
import { PLAIN } from "../http/form.ts";
import { bodyResponse } from "./answer.ts";

/** What the client is answered; errors that are not for it are thrown on. */
export function errorResponse(error: unknown, form = PLAIN): ApiResponse {
  if (!(error instanceof ApiError)) throw error;
  const { retryAfterSeconds } = error.details ?? {};
  const headers: Record<string, string> = retryAfterSeconds ? { "retry-after": String(retryAfterSeconds) } : {};
  return bodyResponse(error.code, statusBody(error), form, headers);
}

/** The fields of a Status in the order of their declaration. */
function statusBody({ status: given }: ApiError): object {
  const { kind, apiVersion, metadata, status, message, reason, details, code } = given;
  return { kind, apiVersion, metadata, status, message, reason, details, code };
}
