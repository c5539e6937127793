import type { Admission } from "../call/call.ts";
import { type AdmissionPlugin, attributesOf } from "./attributes.ts";

/**
 * Calls plugins one after the other: all to mutate the object, twice where a webhook or policy changed it (see
 * reinvocation.ts), then, once it is valid, all to validate it.
 */
export function admissionChain(plugins: readonly AdmissionPlugin[]): Admission {
  const mutating = plugins.filter(({ mutate }) => mutate);
  const validating = plugins.filter(({ validate }) => validate);
  return {
    async mutate(call, object, old, operation) {
      const attributes = attributesOf(call, object, old, operation);
      const { reinvocation } = attributes;
      const pass = async () => {
        for (const plugin of mutating) if (plugin.handles(attributes)) await plugin.mutate!(attributes);
      };
      await pass();
      if (reinvocation.isNeeded) {
        reinvocation.isSecondPass = true;
        await pass();
      }
      return attributes.object;
    },
    async validate(call, object, old, operation) {
      const attributes = attributesOf(call, object, old, operation);
      for (const plugin of validating) if (plugin.handles(attributes)) await plugin.validate!(attributes);
    },
  };
}
