import { append, type FieldError, parseQuantity, type QuantityValue, qualifiedNameErrors } from "@konverge/core";
import { invalidValue, required } from "@konverge/schema";
import type { ResourceRequirements } from "../../../codec/objects.ts";
import { named, notFoundValue } from "./checks.ts";

const STANDARD = new Set(["cpu", "memory", "ephemeral-storage"]);
const OF_PODS = new Set(["cpu", "memory"]);

/** What is wrong with what a container asks for and is limited to. */
export function requirementErrors(
  requirements: ResourceRequirements | undefined,
  field: string,
  claims: ReadonlySet<string> = new Set(),
  of: "container" | "pod" = "container",
): FieldError[] {
  const { limits = {}, requests = {} } = requirements ?? {};
  const errors: FieldError[] = [];
  for (const [name, limit] of Object.entries(limits)) {
    errors.push(
      ...nameErrors(name, `${field}.limits[${name}]`, of),
      ...amountErrors(name, limit, `${field}.limits[${name}]`),
    );
  }
  for (const [name, request] of Object.entries(requests)) {
    append(errors, nameErrors(name, `${field}.requests[${name}]`, of));
    append(errors, amountErrors(name, request, `${field}.requests[${name}]`));
    const limit = limits[name];
    if (limit === undefined) {
      if (!isOvercommitted(name))
        errors.push(required(`${field}.limits`, "Limit must be set for non overcommitable resources"));
      continue;
    }
    const order = parseQuantity(String(request)).cmp(parseQuantity(String(limit)));
    if (order !== 0 && !isOvercommitted(name)) {
      errors.push(invalidValue(`${field}.requests`, request, `must be equal to ${name} limit of ${limit}`));
    } else if (order > 0) {
      const detail = `must be less than or equal to ${name} limit of ${limit}`;
      errors.push(invalidValue(`${field}.requests`, request, detail));
    }
  }
  const listed = new Set<string>();
  requirements?.claims?.forEach(({ name = "", request = "" }, index) => {
    const at = `${field}.claims[${index}]`;
    const key = `${name}/${request}`;
    if (name === "") errors.push(required(`${at}.name`));
    else if (listed.has(key))
      errors.push({ reason: "FieldValueDuplicate", field: at, message: `Duplicate value: "${name}"` });
    else if (!claims.has(name)) errors.push(notFoundValue(`${at}.name`, name));
    listed.add(key);
  });
  return errors;
}

function nameErrors(name: string, field: string, of: "container" | "pod"): FieldError[] {
  const errors = named(field, name, qualifiedNameErrors(name));
  if (of === "pod") {
    const allowed = OF_PODS.has(name) || name.startsWith("hugepages-");
    return allowed
      ? errors
      : [
          ...errors,
          {
            reason: "FieldValueNotSupported",
            field,
            message: `Unsupported value: "${name}": supported values: "cpu", "hugepages-", "memory"`,
          },
        ];
  }
  if (!name.includes("/") && !STANDARD.has(name) && !name.startsWith("hugepages-")) {
    errors.push(invalidValue(field, name, "must be a standard resource type or fully qualified"));
    errors.push(invalidValue(field, name, "must be a standard resource for containers"));
  } else if (name.includes("/") && !name.split("/")[0]!.endsWith("kubernetes.io") && name.startsWith("requests.")) {
    errors.push(invalidValue(field, name, "doesn't follow extended resource name standard"));
  }
  return errors;
}

function amountErrors(name: string, amount: QuantityValue, field: string): FieldError[] {
  const quantity = parseQuantity(String(amount));
  if (quantity.sign() < 0) return [invalidValue(field, amount, "must be greater than or equal to 0")];
  const isWhole = quantity.milliValue() % 1000n === 0n;
  if (name.includes("/") && !isWhole) return [invalidValue(field, amount, "must be an integer")];
  return [];
}

function isOvercommitted(name: string): boolean {
  return !name.includes("/") && !name.startsWith("hugepages-");
}
