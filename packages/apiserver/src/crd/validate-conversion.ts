import { append, dns1035LabelErrors, type FieldError } from "@konverge/core";
import { forbidden, invalidValue, notSupported, required } from "@konverge/schema";
import { clientErrors } from "../resources/strategies/webhook-client.ts";
import type { CrdConversion } from "./custom-resource-definition.ts";

/** The versions of ConversionReview that this server and the one before it speak. */
const REVIEW_VERSIONS = ["v1", "v1beta1"];

/** What is wrong with how objects are to be converted. */
export function conversionErrors(conversion: CrdConversion | undefined, path: string): FieldError[] {
  if (!conversion) return [];
  const { strategy = "", webhook } = conversion;
  const errors: FieldError[] = [];
  if (strategy === "") errors.push(required(`${path}.strategy`));
  else if (strategy !== "None" && strategy !== "Webhook") {
    errors.push(notSupported(`${path}.strategy`, strategy, ["None", "Webhook"]));
  }
  const { clientConfig } = webhook ?? {};
  const versions = webhook?.conversionReviewVersions ?? [];
  const clientPath = `${path}.webhookClientConfig`;
  const versionsPath = `${path}.conversionReviewVersions`;
  if (strategy !== "Webhook") {
    const detail = "should not be set when strategy is not set to Webhook";
    if (clientConfig) errors.push(forbidden(clientPath, detail));
    if (versions.length > 0) errors.push(forbidden(versionsPath, detail));
    return errors;
  }
  if (!clientConfig) errors.push(required(clientPath, "required when strategy is set to Webhook"));
  else append(errors, clientErrors(clientConfig, clientPath));
  return [...errors, ...reviewVersionErrors(versions, versionsPath)];
}

function reviewVersionErrors(versions: readonly string[], path: string): FieldError[] {
  if (versions.length === 0) return [required(path)];
  const errors: FieldError[] = [];
  const listed = new Set<string>();
  for (const [index, version] of versions.entries()) {
    if (listed.has(version)) {
      errors.push(invalidValue(`${path}[${index}]`, version, "duplicate version"));
      continue;
    }
    listed.add(version);
    for (const problem of dns1035LabelErrors(version)) errors.push(invalidValue(`${path}[${index}]`, version, problem));
  }
  if (!versions.some((version) => REVIEW_VERSIONS.includes(version))) {
    errors.push(invalidValue(path, versions, `must include at least one of ${REVIEW_VERSIONS.join(", ")}`));
  }
  return errors;
}
