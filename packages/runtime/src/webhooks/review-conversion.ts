import { type AnyObject, parseApiVersion } from "@konverge/core";

/** A kind with several versions, made by `defineKind`. */
export interface ConvertibleKind {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly convert: (object: never, to: never) => object;
}

/** What an API server sends to have objects converted. */
export interface ConversionReview {
  apiVersion: string;
  kind: string;
  request?: { uid: string; desiredAPIVersion: string; objects: AnyObject[] };
}

/** What it gets back. */
export interface ConversionAnswer {
  apiVersion: string;
  kind: string;
  response: {
    uid: string;
    result: { status: "Success" | "Failure"; message?: string };
    convertedObjects: object[];
  };
}

/** Converts the objects of a review: all of them or none. */
export function reviewConversion(kinds: readonly ConvertibleKind[], review: ConversionReview): ConversionAnswer {
  const { apiVersion, kind: reviewKind, request } = review;
  if (!request) throw new TypeError("the review has no request");
  const { uid, desiredAPIVersion, objects } = request;
  const { group, version } = parseApiVersion(desiredAPIVersion);
  try {
    const convertedObjects = objects.map((object) => {
      const kind = kinds.find((one) => one.kind === object.kind && one.group === group);
      if (!kind) throw new Error(`there is no conversion for ${object.kind} of ${group || "the core group"}`);
      return (kind.convert as (object: object, to: string) => object)(object, version);
    });
    return { apiVersion, kind: reviewKind, response: { uid, result: { status: "Success" }, convertedObjects } };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const result = { status: "Failure" as const, message };
    return { apiVersion, kind: reviewKind, response: { uid, result, convertedObjects: [] } };
  }
}
