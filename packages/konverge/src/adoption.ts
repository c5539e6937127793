/**
 * Adopts objects and fields from other owners and other operators: owner references ({@link adoptObject}) and field
 * ownership ({@link adoptFields}).
 */
export { type AdoptFieldsOptions, adoptFields, adoptObject, type OwnerObject, releaseObject } from "@konverge/runtime";
