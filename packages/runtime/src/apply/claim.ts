import type { Client } from "@konverge/client";
import { controllerOf, type KindRef, type KubeObject, keyOf } from "@konverge/core";
import { ExternalError } from "../errors.ts";
import type { Bond } from "./bond.ts";
import type { OwnedKind } from "./child.ts";

export interface Claim {
  /** `Deployment.apps default/web`. */
  name: string;
  live: KubeObject;
  declared: OwnedKind;
  bond: Bond;
  owner: KubeObject;
  ownerKind: KindRef<KubeObject>;
  /** The field manager of the controller, and whether it has applied the object before. */
  manager: string;
  former: boolean;
}

/** How long to wait, in milliseconds, for what no event will tell. */
export const FOREIGN_CHILD_RETRY = 30_000;

/**
 * Throws unless an object is its owner's child, or may become it: only uids count, since names are used again. What
 * belongs to another owner can be deleted later, so these errors are retried.
 */
export async function claim(one: Claim, client: Client): Promise<void> {
  const { name, live, declared, bond, owner, ownerKind, manager } = one;
  const me = `${ownerKind.kind} ${keyOf(owner)}`;
  const refuse = (reason: string, message: string) =>
    new ExternalError(reason, message, { requeueAfter: FOREIGN_CHILD_RETRY });
  if (bond.ownerUid(live) === owner.metadata.uid) return;
  if (bond.ownerKey(live) === keyOf(owner)) {
    throw refuse("ChildOfPredecessor", `${name} belongs to an earlier ${me} and must be deleted first`);
  }
  const controller = controllerOf(live);
  if (controller || bond.ownerUid(live) !== undefined) {
    const whom = controller ? `${controller.kind} ${controller.name}` : "another object";
    const advice = "use another name, or delete it";
    throw refuse("ChildOfAnother", `${name} belongs to ${whom} and cannot become a child of ${me}: ${advice}`);
  }
  if (!one.former && declared.adopt !== "any") {
    const advice = `delete it, use another name, or allow it with ownedKind(${declared.kind.kind}, { adopt: "any" })`;
    throw refuse(
      "ChildExists",
      `${name} exists and was not created by ${manager}, so ${me} does not adopt it: ${advice}`,
    );
  }
  // An owner that is gone must not take anything along.
  const current = await client.get(ownerKind, keyOf(owner));
  if (current.metadata.uid !== owner.metadata.uid || current.metadata.deletionTimestamp) {
    throw refuse("OwnerGone", `${me} is being deleted and adopts nothing`);
  }
}
