import { storeOperatorOf } from "./store-operator.ts";

/** The next version, with what must not happen to those who run the present one. */
export const nextStoreOperator = storeOperatorOf({ tier: "data", mode: "fast", oscillates: true });
