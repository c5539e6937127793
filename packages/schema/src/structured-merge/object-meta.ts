import type { Schema } from "@konverge/core";

const text: Schema = { type: "string" };
const time: Schema = { type: "string", format: "date-time" };
const texts: Schema = { type: "object", additionalProperties: text };

/** What a custom resource's schema leaves out, because it is the same for every object. */
export const OBJECT_META: Schema = {
  type: "object",
  properties: {
    name: text,
    generateName: text,
    namespace: text,
    selfLink: text,
    uid: text,
    resourceVersion: text,
    generation: { type: "integer", format: "int64" },
    creationTimestamp: time,
    deletionTimestamp: time,
    deletionGracePeriodSeconds: { type: "integer", format: "int64" },
    labels: texts,
    annotations: texts,
    ownerReferences: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["uid"],
      items: {
        type: "object",
        "x-kubernetes-map-type": "atomic",
        properties: {
          apiVersion: text,
          kind: text,
          name: text,
          uid: text,
          controller: { type: "boolean" },
          blockOwnerDeletion: { type: "boolean" },
        },
      },
    },
    finalizers: { type: "array", "x-kubernetes-list-type": "set", items: text },
    managedFields: { type: "array", "x-kubernetes-list-type": "atomic", items: { type: "object" } },
  },
};
