import { type AnyObject, type ApiRequest, badRequest, headerOf, parseJson } from "@konverge/core";

const decoder = new TextDecoder();

/** A request's body as text. */
export function bodyText(request: ApiRequest): string {
  return typeof request.body === "string" ? request.body : request.body ? decoder.decode(request.body) : "";
}

/** The object in a request's body. */
export function readObject(request: ApiRequest): AnyObject {
  const type = (headerOf(request.headers, "content-type") ?? "application/json").split(";")[0]!.trim();
  if (type !== "application/json")
    throw badRequest(
      `the body of the request was in an unknown format - accepted media types include: application/json`,
    );
  let value: unknown;
  try {
    value = parseJson(bodyText(request));
  } catch (error) {
    throw badRequest(`the body of the request is not valid JSON: ${(error as Error).message}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw badRequest("the body of the request is not an object");
  return value as AnyObject;
}
