import type { AnyObject, Mutable } from "@konverge/core";

/** An object that a request works on: its own copy, which may be changed on the way from the body to the store. */
export interface WorkingObject extends Mutable<AnyObject> {}
