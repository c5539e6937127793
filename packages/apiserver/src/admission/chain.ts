import type { Admission } from "../verbs/call.ts";
import { type AdmissionPlugin, attributesOf } from "./attributes.ts";

/** Asks plugins one after the other: all to change the object, then, once it is valid, all to judge it. */
export function admissionChain(plugins: readonly AdmissionPlugin[]): Admission {
  const mutating = plugins.filter(({ mutate }) => mutate);
  const validating = plugins.filter(({ validate }) => validate);
  return {
    async mutate(call, object, old, operation) {
      const attributes = attributesOf(call, object, old, operation);
      for (const plugin of mutating) {
        if (plugin.handles(attributes)) await plugin.mutate!(attributes);
      }
      return attributes.object;
    },
    async validate(call, object, old, operation) {
      const attributes = attributesOf(call, object, old, operation);
      for (const plugin of validating) if (plugin.handles(attributes)) await plugin.validate!(attributes);
    },
  };
}
