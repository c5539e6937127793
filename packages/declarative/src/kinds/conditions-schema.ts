import type { Schema } from "@konverge/core";

/** `status.conditions` of a kind that is made of a declaration. */
export const CONDITIONS: Schema = {
  type: "array",
  items: {
    type: "object",
    properties: {
      type: { type: "string" },
      status: { type: "string" },
      reason: { type: "string" },
      message: { type: "string" },
      lastTransitionTime: { type: "string" },
      observedGeneration: { type: "integer" },
    },
  },
};
