/** What a server asks a conversion webhook. */
export interface ConversionReview {
  apiVersion: string;
  kind: string;
  request: { uid: string; desiredAPIVersion: string; objects: CustomObject[] };
}

interface CustomObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: Record<string, string> };
  spec?: { size?: unknown; dimensions?: { size?: unknown } };
}

/**
 * Conversions by path: `moves` has spec.size in v1 and spec.dimensions.size in v2; `fails` says so; `loses` returns
 * nothing; `renames` and `relabels` change metadata; `mistakes` returns the version it was given.
 */
export function convert(behavior: string, { apiVersion, kind, request }: ConversionReview): object {
  const { uid, desiredAPIVersion, objects } = request;
  const success = (convertedObjects: unknown[], id = uid) => ({
    apiVersion,
    kind,
    response: { uid: id, convertedObjects, result: { status: "Success" } },
  });
  const moved = objects.map((object) => move(object, desiredAPIVersion));
  switch (behavior) {
    case "moves":
      return success(moved);
    case "relabels":
      return success(
        moved.map((object) => ({ ...object, metadata: { ...object.metadata, labels: { by: "webhook" } } })),
      );
    case "renames":
      return success(moved.map((object) => ({ ...object, metadata: { ...object.metadata, name: "other" } })));
    case "mistakes":
      return success(objects);
    case "loses":
      return success([]);
    case "forgets":
      return success(moved, "another");
    case "empty":
      return { apiVersion, kind };
    default:
      return {
        apiVersion,
        kind,
        response: { uid, convertedObjects: [], result: { status: "Failure", message: "it cannot be converted" } },
      };
  }
}

function move(object: CustomObject, apiVersion: string): CustomObject {
  const { size = object.spec?.dimensions?.size } = object.spec ?? {};
  const { size: _, dimensions: __, ...rest } = object.spec ?? {};
  if (size === undefined) return { ...object, apiVersion, spec: rest };
  const spec = apiVersion.endsWith("/v1") ? { ...rest, size } : { ...rest, dimensions: { size } };
  return { ...object, apiVersion, spec };
}
