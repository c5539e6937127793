import { parseJson } from "@konverge/core";
import type { Call } from "../call/call.ts";
import type { Ingress, IngressClass } from "../codec/objects.ts";
import { type AdmissionPlugin, isAbout } from "./attributes.ts";

const IS_DEFAULT = "ingressclass.kubernetes.io/is-default-class";

/** Ingresses that name no class get the default one, if there is one. */
export const defaultIngressClass: AdmissionPlugin = {
  name: "DefaultIngressClass",
  handles: (attributes) => attributes.operation === "CREATE" && isAbout(attributes, "networking.k8s.io/ingresses"),
  mutate({ object, call }) {
    const ingress = object as unknown as Ingress;
    const named = ingress.metadata.annotations?.["kubernetes.io/ingress.class"];
    if (ingress.spec?.ingressClassName !== undefined || named !== undefined) return;
    const chosen = defaultClass(call);
    if (chosen !== undefined) ingress.spec = { ...ingress.spec, ingressClassName: chosen };
  },
};

/** Of several defaults the newest counts, of equally new ones the first by name. */
function defaultClass({ store }: Call): string | undefined {
  let newest: IngressClass["metadata"] | undefined;
  for (const entry of store.collection("networking.k8s.io/ingressclasses").scan("")) {
    const { metadata } = parseJson(entry.text) as IngressClass;
    if (metadata.annotations?.[IS_DEFAULT] !== "true") continue;
    if (!newest || (metadata.creationTimestamp ?? "") > (newest.creationTimestamp ?? "")) newest = metadata;
  }
  return newest?.name;
}
