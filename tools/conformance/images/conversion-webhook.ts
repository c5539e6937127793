import type { Process } from "@konverge/cluster";
import { flagsOf, forEver } from "./serve.ts";
import { serveReviews } from "./webhook.ts";

type Custom = Record<string, unknown> & { apiVersion: string };

interface ConversionReview {
  apiVersion: string;
  kind: string;
  request: { uid: string; desiredAPIVersion: string; objects: Custom[] };
}

/** `agnhost crd-conversion-webhook`: converts between `hostPort` (v1) and `host` and `port` (v2). */
export async function conversionWebhook(process: Process): Promise<number> {
  serveReviews(process, flagsOf(process.argv.slice(2)), async (path, review) => {
    if (path !== "/crdconvert") return undefined;
    const { apiVersion, kind, request } = review as ConversionReview;
    const convertedObjects = request.objects.map((object) => converted(object, request.desiredAPIVersion));
    return { apiVersion, kind, response: { uid: request.uid, convertedObjects, result: { status: "Success" } } };
  });
  return forEver(process);
}

function converted(object: Custom, apiVersion: string): Custom {
  const { hostPort, host, port, ...rest } = object;
  if (apiVersion.endsWith("/v2")) {
    const [name, number] = typeof hostPort === "string" ? hostPort.split(":") : [];
    return { ...rest, ...(hostPort !== undefined && { host: name, port: number }), apiVersion };
  }
  const joined = host !== undefined || port !== undefined ? { hostPort: `${host ?? ""}:${port ?? ""}` } : {};
  return { ...rest, ...joined, apiVersion };
}
