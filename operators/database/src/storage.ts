import type { PersistentVolumeClaim } from "konverge/kinds";
import { parseQuantity } from "konverge/objects";
import type { Database } from "./database.ts";
import type { ServerReport } from "./server-report.ts";

/** The next step for a volume. */
export type StorageStep =
  | { readonly step: "none" }
  | { readonly step: "grow"; readonly from: string; readonly to: string }
  /** The requested size is smaller than the current one. */
  | { readonly step: "refuse"; readonly has: string; readonly asked: string }
  /** The provisioner is resizing it, or waits for a restart of the server. */
  | { readonly step: "growing"; readonly has: string; readonly to: string }
  /** The cluster refuses to grow it. */
  | { readonly step: "stuck"; readonly to: string; readonly message: string };

/** Compares the requested size with the existing claim. */
export function storageStep(asked: string, claim: PersistentVolumeClaim | undefined): StorageStep {
  const requested = requestOf(claim);
  if (requested === undefined) return { step: "none" };
  const [wanted, has] = [parseQuantity(asked), parseQuantity(requested)];
  if (wanted.cmp(has) < 0) return { step: "refuse", has: requested, asked };
  if (wanted.cmp(has) > 0) return { step: "grow", from: requested, to: asked };
  const capacity = claim?.status?.capacity?.["storage"];
  if (capacity !== undefined && parseQuantity(capacity).cmp(wanted) < 0)
    return { step: "growing", has: String(capacity), to: asked };
  return { step: "none" };
}

/** The desired size of volumes, and whether a limit applies. */
export interface DesiredSize {
  readonly size: string;
  /** They are nearly full, and have reached the limit of automatic growth. */
  readonly atLimit?: boolean;
}

const MEBI = 1_048_576n;

/**
 * The size that all volumes of a database should have: the requested one; if they grow automatically, never less than
 * the largest has, and a step more when one of them is nearly full and has got the last step already.
 */
export function desiredSize(
  { size, storage }: Database["spec"],
  claims: readonly PersistentVolumeClaim[],
  reports: readonly ServerReport[],
): DesiredSize {
  if (!storage) return { size };
  const requests = claims.flatMap((claim) => requestOf(claim) ?? []);
  const largest = [size, ...requests].reduce((a, b) => (parseQuantity(b).cmp(parseQuantity(a)) > 0 ? b : a));
  const has = parseQuantity(largest).value();
  const isFull = reports.some((report) => isNearlyFull(report, storage.growWhenUsed, has));
  if (!isFull || claims.some((claim) => storageStep(largest, claim).step !== "none")) return { size: largest };
  const limit = parseQuantity(String(storage.limit)).value();
  const [, part] = /^(\d+)%$/.exec(storage.step) ?? [];
  const step = part ? (has * BigInt(part)) / 100n : parseQuantity(storage.step).value();
  const grown = has + (step > MEBI ? step : MEBI);
  const target = grown < limit ? grown : limit;
  if (target <= has) return { size: largest, atLimit: true };
  return { size: `${target / MEBI}Mi` };
}

/** A file system that has not been resized to the requested size yet does not count: it would grow forever. */
function isNearlyFull({ size, used }: ServerReport, percent: number, requested: bigint): boolean {
  if (size === undefined || used === undefined || size === 0) return false;
  const hasGrown = BigInt(size) * 1024n * 10n >= requested * 8n;
  return hasGrown && used * 100 >= size * percent;
}

function requestOf(claim: PersistentVolumeClaim | undefined): string | undefined {
  const storage = claim?.spec?.resources?.requests?.["storage"];
  return storage === undefined ? undefined : String(storage);
}
