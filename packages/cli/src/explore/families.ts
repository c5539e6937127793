import type { FaultFamily } from "@konverge/testing";
import { UsageError } from "../usage-error.ts";

/** The families of faults in a list with commas. */
export function familiesIn(text: string, known: readonly FaultFamily[]): FaultFamily[] {
  return text.split(",").map((name) => {
    const family = known.find((one) => one === name.trim());
    if (family) return family;
    throw new UsageError(`--faults ${name}: there are ${known.join(", ")}`);
  });
}
