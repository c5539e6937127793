import { ApiError, type Clock, gvkOf } from "@konverge/core";
import { annotationErrors, labelErrors } from "@konverge/schema";
import type { WorkingObject } from "../codec/working-object.ts";
import type { ResourceDefinition } from "../resources/definition.ts";
import type { CallWebhook } from "../webhook-call.ts";
import type { CustomResourceDefinition } from "./custom-resource-definition.ts";

/** How the objects of a CRD go from one version to another. */
export function conversionFor(
  crd: CustomResourceDefinition,
  clock: Clock,
  callWebhook: CallWebhook,
): Pick<ResourceDefinition, "convert" | "convertsByWebhook"> {
  const { conversion } = crd.spec;
  if (conversion?.strategy !== "Webhook") {
    return { convert: (objects, apiVersion) => objects.map((object) => ({ ...object, apiVersion })) };
  }
  return {
    convertsByWebhook: true,
    async convert(objects, apiVersion) {
      const foreign = objects.filter((object) => object.apiVersion !== apiVersion);
      if (foreign.length === 0) return objects;
      const review = await ask(crd, clock, callWebhook, foreign, apiVersion);
      const converted = review.map((answer, index) => checked(foreign[index]!, answer, apiVersion, index, objects));
      return objects.map((object) => (object.apiVersion === apiVersion ? object : converted.shift()!));
    },
  };
}

interface ConversionReview {
  apiVersion?: string;
  kind?: string;
  response?: {
    uid?: string;
    result?: { status?: string; message?: string };
    convertedObjects?: WorkingObject[];
  };
}

async function ask(
  crd: CustomResourceDefinition,
  clock: Clock,
  callWebhook: CallWebhook,
  objects: readonly WorkingObject[],
  desiredAPIVersion: string,
): Promise<WorkingObject[]> {
  const { clientConfig, conversionReviewVersions } = crd.spec.conversion!.webhook!;
  const version = (conversionReviewVersions ?? []).find((each) => each === "v1" || each === "v1beta1") ?? "v1";
  const apiVersion = `apiextensions.k8s.io/${version}`;
  const uid = clock.random.uuid();
  const request = { kind: "ConversionReview", apiVersion, request: { uid, desiredAPIVersion, objects } };
  let answer: ConversionReview;
  try {
    answer = (await callWebhook({ ...clientConfig }, request, { timeoutMs: 30_000 })) as ConversionReview;
  } catch (error) {
    throw failure(objects[0]!, "failed", (error as Error).message);
  }
  const { response } = answer;
  const fail = (why: string) => failure(objects[0]!, "failed", why);
  if (version === "v1" && (answer.kind !== "ConversionReview" || answer.apiVersion !== apiVersion)) {
    const got = answer.apiVersion ? `${answer.apiVersion}, Kind=${answer.kind}` : `/, Kind=${answer.kind ?? ""}`;
    throw fail(`expected webhook response of ${apiVersion}, Kind=ConversionReview, got ${got}`);
  }
  if (!response) throw fail("no response provided");
  if (version === "v1" && response.uid !== uid) {
    throw fail(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid ?? "")}`);
  }
  const { status = "", message } = response.result ?? {};
  if (status !== "Success") throw fail(message || `response.result.status was '${status}', not 'Success'`);
  const converted = response.convertedObjects ?? [];
  if (converted.length !== objects.length) {
    throw failure(objects[0]!, "returned", `${converted.length} objects, expected ${objects.length}`, " ");
  }
  return converted;
}

/** A converted object, if it is the same one; metadata but for labels and annotations stays as it was. */
function checked(
  original: WorkingObject,
  converted: WorkingObject,
  apiVersion: string,
  index: number,
  all: readonly WorkingObject[],
): WorkingObject {
  const what = all.length > 1 ? `invalid converted object at index ${index}` : "invalid object";
  const fail = (why: string) => failure(original, `returned ${what}`, why);
  if (converted.apiVersion !== apiVersion) {
    const at = all.length > 1 ? what : "invalid object at index 0";
    const why = `invalid groupVersion (expected ${apiVersion}, received ${converted.apiVersion ?? ""})`;
    throw failure(original, `returned ${at}`, why);
  }
  if (converted.kind !== original.kind) {
    const at = all.length > 1 ? what : "invalid object at index 0";
    const why = `invalid kind (expected ${original.kind}, received ${converted.kind ?? ""})`;
    throw failure(original, `returned ${at}`, why);
  }
  const { metadata } = converted;
  for (const [field, name] of [
    ["name", "name"],
    ["namespace", "namespace"],
    ["uid", "UID"],
  ] as const) {
    const [expected, got] = [original.metadata[field] ?? "", metadata?.[field] ?? ""];
    if (expected !== got) throw fail(`must have the same ${name}: ${expected} != ${got}`);
  }
  return { ...converted, metadata: restored(original, metadata, what) };
}

function restored(
  original: WorkingObject,
  metadata: WorkingObject["metadata"],
  what: string,
): WorkingObject["metadata"] {
  const { labels: _, annotations: __, ...kept } = original.metadata;
  const result: WorkingObject["metadata"] = { ...kept };
  const where =
    what === "invalid object" ? "invalid metadata" : what.replace("invalid converted", "invalid metadata in");
  for (const field of ["labels", "annotations"] as const) {
    const values = metadata[field];
    if (values === undefined || values === null) continue;
    const path = field === "labels" ? "metadata.labels" : "metadata.annotation";
    const errors = (field === "labels" ? labelErrors : annotationErrors)(values, path);
    if (errors.length > 0) {
      const texts = errors.map((error) => `${error.field}: ${error.message}`);
      throw failure(original, `returned ${where}`, texts.length === 1 ? texts[0]! : `[${texts.join(", ")}]`);
    }
    result[field] = values;
  }
  return result;
}

function failure(object: WorkingObject, verb: string, why: string, separator = ": "): ApiError {
  const { group, version, kind } = gvkOf(object);
  const message = `conversion webhook for ${group}/${version}, Kind=${kind} ${verb}${separator}${why}`;
  return new ApiError({ code: 500, message });
}
