import { type FieldError, parseQuantity, type QuantityValue, qualifiedNameErrors } from "@konverge/core";
import { invalidValue, notSupported, required } from "@konverge/schema";
import { named } from "./checks.ts";

/** Fields of a pod that containers can be given at all. */
const LABELS = new Set([
  "metadata.annotations",
  "metadata.labels",
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.host",
  "spec.nodeName",
  "spec.restartPolicy",
  "spec.schedulerName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.phase",
  "status.podIP",
  "status.podIPs",
]);

const RESOURCES = ["cpu", "ephemeral-storage", "memory"]
  .flatMap((name) => [`limits.${name}`, `requests.${name}`])
  .sort();
const HUGE_PAGES = /^(limits|requests)\.hugepages-/;
const UNITS = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

/** What is wrong with a reference to a field of the pod; `supported` are the ones that can be referred to here. */
export function fieldRefErrors(
  { apiVersion = "", fieldPath = "" }: { apiVersion?: string; fieldPath?: string },
  field: string,
  supported: readonly string[],
): FieldError[] {
  if (apiVersion === "") return [required(`${field}.apiVersion`)];
  if (fieldPath === "") return [required(`${field}.fieldPath`)];
  const wrong = (why: string) => [invalidValue(`${field}.fieldPath`, fieldPath, `error converting fieldPath: ${why}`)];
  if (apiVersion !== "v1") return wrong(`unsupported pod version: ${apiVersion}`);
  const [, path, key] = /^(.+?)\['(.*)'\]$/s.exec(fieldPath) ?? [];
  if (path !== undefined && key !== undefined) {
    if (path === "metadata.labels") return named(field, key, qualifiedNameErrors(key));
    if (path !== "metadata.annotations") return wrong(`field label does not support subscript: ${fieldPath}`);
    return named(field, key.toLowerCase(), qualifiedNameErrors(key.toLowerCase()));
  }
  if (!LABELS.has(fieldPath)) return wrong(`field label not supported: ${fieldPath}`);
  const meant = fieldPath === "spec.host" ? "spec.nodeName" : fieldPath;
  return supported.includes(meant) ? [] : [notSupported(`${field}.fieldPath`, meant, supported)];
}

/** What is wrong with a reference to a container's resources. In a volume it names its container. */
export function resourceFieldRefErrors(
  ref: { containerName?: string; resource?: string; divisor?: QuantityValue },
  field: string,
  isVolume: boolean,
): FieldError[] {
  const { containerName = "", resource = "" } = ref;
  const errors: FieldError[] = [];
  if (isVolume && containerName === "") errors.push(required(`${field}.containerName`));
  else if (resource === "") errors.push(required(`${field}.resource`));
  else if (!RESOURCES.includes(resource) && !HUGE_PAGES.test(resource)) {
    errors.push(notSupported(`${field}.resource`, resource, RESOURCES));
  }
  return [...errors, ...divisorErrors(resource, ref.divisor, `${field}.divisor`)];
}

function divisorErrors(resource: string, divisor: QuantityValue | undefined, field: string): FieldError[] {
  const unit = parseQuantity(divisor ?? "0").toString();
  if (unit === "0") return [];
  const wrong = (units: string, name: string) => [
    invalidValue(field, resource, `only divisor's values ${units} are supported with the ${name} resource`),
  ];
  if (/\.cpu$/.test(resource)) return unit === "1" || unit === "1m" ? [] : wrong("1m and 1", "cpu");
  const name = HUGE_PAGES.test(resource)
    ? "hugepages"
    : resource.endsWith(".memory")
      ? "memory"
      : resource.endsWith(".ephemeral-storage")
        ? "local ephemeral storage"
        : undefined;
  return name === undefined || UNITS.includes(unit) ? [] : wrong(UNITS.join(", "), name);
}
