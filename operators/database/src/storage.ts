import { parseQuantity } from "konverge";
import type { PersistentVolumeClaim } from "konverge/kinds";

/** What a database's volume needs, if anything. */
export type StorageStep =
  | { readonly step: "none" }
  | { readonly step: "grow"; readonly from: string; readonly to: string }
  /** Somebody asks for less than there is. */
  | { readonly step: "refuse"; readonly has: string; readonly asked: string }
  /** The provisioner is at it, or waits for the server to be restarted. */
  | { readonly step: "growing"; readonly has: string; readonly to: string };

/** Compares what is asked for with the claim that is there. */
export function storageStep(asked: string, claim: PersistentVolumeClaim | undefined): StorageStep {
  const requested = claim?.spec?.resources?.requests?.["storage"];
  if (requested === undefined) return { step: "none" };
  const [wanted, has] = [parseQuantity(asked), parseQuantity(requested)];
  if (wanted.cmp(has) < 0) return { step: "refuse", has: requested, asked };
  if (wanted.cmp(has) > 0) return { step: "grow", from: requested, to: asked };
  const capacity = claim?.status?.capacity?.["storage"];
  if (capacity !== undefined && parseQuantity(capacity).cmp(wanted) < 0)
    return { step: "growing", has: capacity, to: asked };
  return { step: "none" };
}
