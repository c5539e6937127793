import type { PersistentVolumeClaim } from "konverge/kinds";
import { parseQuantity } from "konverge/objects";
import type { Database } from "./database.ts";
import type { ServerReport } from "./server-report.ts";

/** What a database's volume needs, if anything. */
export type StorageStep =
  | { readonly step: "none" }
  | { readonly step: "grow"; readonly from: string; readonly to: string }
  /** Somebody asks for less than there is. */
  | { readonly step: "refuse"; readonly has: string; readonly asked: string }
  /** The provisioner is at it, or waits for the server to be restarted. */
  | { readonly step: "growing"; readonly has: string; readonly to: string }
  /** The cluster does not let it grow. */
  | { readonly step: "stuck"; readonly to: string; readonly message: string };

/** Compares what is asked for with the claim that is there. */
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
export interface StorageWish {
  readonly size: string;
  /** They are nearly full, and as large as they may become by themselves. */
  readonly atLimit?: boolean;
}

const MEBI = 1_048_576n;

/**
 * The size that all volumes of a database should have: the requested one; if they grow automatically, never less than
 * the largest has, and a step more when one of them is nearly full and has got the last step already.
 */
export function wantedSize(
  { size, storage }: Database["spec"],
  claims: readonly PersistentVolumeClaim[],
  reports: readonly ServerReport[],
): StorageWish {
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

/** A file system that has not got its last growth yet is not judged: it would grow for ever. */
function isNearlyFull({ size, used }: ServerReport, percent: number, requested: bigint): boolean {
  if (size === undefined || used === undefined || size === 0) return false;
  const hasGrown = BigInt(size) * 1024n * 10n >= requested * 8n;
  return hasGrown && used * 100 >= size * percent;
}

function requestOf(claim: PersistentVolumeClaim | undefined): string | undefined {
  const storage = claim?.spec?.resources?.requests?.["storage"];
  return storage === undefined ? undefined : String(storage);
}
