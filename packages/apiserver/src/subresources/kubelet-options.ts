import { badRequest, type FieldError, invalid } from "@konverge/core";
import { forbidden, invalidValue } from "@konverge/schema";
import { DecodeError } from "../codec/decode-error.ts";
import { parseGoTime } from "../codec/go-time.ts";
import { integerParameter, isTrue } from "../http/query.ts";

/** What a request for a log asks for. */
export interface LogOptions {
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly sinceSeconds?: number;
  /** Milliseconds since 1970. */
  readonly sinceTime?: number;
  readonly tailLines?: number;
  readonly limitBytes?: number;
}

/** The options of a log, checked before anything is known of the pod, as kube-apiserver does. */
export function logOptions(pod: string, query: URLSearchParams): LogOptions {
  const sinceSeconds = integerParameter(query, "sinceSeconds");
  const sinceTime = timeParameter(query, "sinceTime");
  const tailLines = integerParameter(query, "tailLines");
  const limitBytes = integerParameter(query, "limitBytes");
  const errors: FieldError[] = [];
  if (tailLines !== undefined && tailLines < 0) {
    errors.push(invalidValue("tailLines", tailLines, "must be greater than or equal to 0"));
  }
  if (limitBytes !== undefined && limitBytes < 1) {
    errors.push(invalidValue("limitBytes", limitBytes, "must be greater than 0"));
  }
  if (sinceSeconds !== undefined && query.has("sinceTime")) {
    errors.push(forbidden("[]", "at most one of `sinceTime` or `sinceSeconds` may be specified"));
  } else if (sinceSeconds !== undefined && sinceSeconds < 1) {
    errors.push(invalidValue("sinceSeconds", sinceSeconds, "must be greater than 0"));
  }
  // Streams of a container are not recorded apart: its feature gate is off by default.
  if (query.has("stream")) errors.push(forbidden("stream", "may not be specified"));
  if (errors.length > 0) throw invalid({ group: "", kind: "PodLogOptions" }, pod, errors);
  return {
    follow: isTrue(query.get("follow")),
    previous: isTrue(query.get("previous")),
    timestamps: isTrue(query.get("timestamps")),
    ...(sinceSeconds !== undefined && { sinceSeconds }),
    ...(sinceTime !== undefined && { sinceTime }),
    ...(tailLines !== undefined && { tailLines }),
    ...(limitBytes !== undefined && { limitBytes }),
  };
}

/** The ports that a port-forward names; none where the client names them in each stream. */
export function requestedPorts(query: URLSearchParams): number[] {
  const read = (text: string) => {
    const fail = (why: string) =>
      badRequest(`cannot convert to []int32: strconv.ParseUint: parsing ${JSON.stringify(text)}: ${why}`);
    if (!/^[0-9]+$/.test(text)) throw fail("invalid syntax");
    if (Number(text) > 65_535) throw fail("value out of range");
    return Number(text);
  };
  return query.getAll("ports").flatMap((list) => list.split(",").map(read));
}

function timeParameter(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (!text) return undefined;
  try {
    return parseGoTime("2006-01-02T15:04:05Z07:00", text).ms;
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(error.message);
    throw error;
  }
}
