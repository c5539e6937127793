import { parseQuantity, Quantity, type QuantityValue } from "@konverge/core";
import type { CapacityRequestPolicy, DeviceCapacity } from "@konverge/kinds";

/** The share of each device capacity that a request consumes; undefined if the device cannot satisfy the request. */
export function consumedBy(
  asked: Readonly<Record<string, QuantityValue>>,
  capacity: Readonly<Record<string, DeviceCapacity>>,
): Map<string, Quantity> | undefined {
  if (Object.keys(asked).some((name) => !(name in capacity))) return undefined;
  const consumed = new Map<string, Quantity>();
  for (const [name, { value, requestPolicy }] of Object.entries(capacity)) {
    const text = asked[name];
    const amount =
      text === undefined
        ? parseQuantity(requestPolicy?.default ?? value)
        : roundedUp(parseQuantity(text), requestPolicy ?? {});
    if (!isAllowed(amount, requestPolicy) || amount.cmp(parseQuantity(value)) > 0) return undefined;
    consumed.set(name, amount);
  }
  return consumed;
}

/** The smallest allowed quantity that is sufficient; the requested quantity without a policy. */
function roundedUp(amount: Quantity, { validRange, validValues }: CapacityRequestPolicy): Quantity {
  if (validRange) {
    const min = parseQuantity(validRange.min);
    if (amount.cmp(min) < 0) return min;
    if (validRange.step === undefined) return amount;
    const [least, step] = [min.value(), parseQuantity(validRange.step).value()];
    const steps = (amount.value() - least + step - 1n) / step;
    return Quantity.of(least + step * steps, "BinarySI");
  }
  return validValues?.map((text) => parseQuantity(text)).find((one) => amount.cmp(one) <= 0) ?? amount;
}

function isAllowed(amount: Quantity, policy: CapacityRequestPolicy | undefined): boolean {
  const { default: usual, validRange, validValues } = policy ?? {};
  if (usual !== undefined && amount.cmp(parseQuantity(usual)) === 0) return true;
  if (validRange) return validRange.max === undefined || amount.cmp(parseQuantity(validRange.max)) <= 0;
  return !validValues?.length || validValues.some((text) => amount.cmp(parseQuantity(text)) === 0);
}
