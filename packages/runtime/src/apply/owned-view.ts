import type { Client } from "@konverge/client";
import type { KindRef, KubeObject, ObjectKey, Schema } from "@konverge/core";
import type { CacheView } from "../cache/view.ts";
import type { Bond } from "./bond.ts";
import type { OwnedKind } from "./child.ts";

/** A declared kind of children, and the objects there are of it. */
export interface OwnedView {
  readonly declared: OwnedKind;
  readonly view: CacheView<KubeObject>;
  readonly bond: Bond;
  readonly schema: Schema | undefined;
}

/** The index under which views of owned kinds find children: the uid of their owner. */
export const BY_OWNER = "konverge/owner";

/** What a reconcile does to children it does with this. */
export interface ChildrenScope {
  owner: KubeObject;
  /** Reads. */
  client: Client;
  /** Writes: as the controller itself or as the tenant that owns the object. */
  writer: Client;
  /** The tenant, if it is one. */
  tenant: string | undefined;
  /** Called with the children that exist. */
  seen?: (kind: KindRef<KubeObject>, key: ObjectKey, object: KubeObject | undefined) => void;
  /** Called with what was done, to report it to users. */
  report: (reason: string, message: string) => void;
}
