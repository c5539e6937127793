import { ApiError } from "@konverge/core";

/**
 * A patch that is well formed but does not fit the object. The response says only that; the reason is in `cause`, for
 * logs and for callers in the same process.
 */
export function unprocessable(why: string): ApiError {
  return new ApiError(
    {
      code: 422,
      reason: "Invalid",
      message: "the server rejected our request due to an error in our request",
      details: {},
    },
    { cause: new Error(why) },
  );
}

/** What the API server has no better answer for: 500, no reason, the bare message. */
export function internal(message: string): ApiError {
  return new ApiError({ code: 500, message });
}

/** More than the server is willing to do. */
export function tooLarge(message: string): ApiError {
  return new ApiError({
    code: 413,
    reason: "RequestEntityTooLarge",
    message: `Request entity too large: ${message}`,
  });
}
