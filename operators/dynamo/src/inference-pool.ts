import { type KubeObject, TypedKind } from "konverge";

/** Of the Gateway API Inference Extension, which need not be installed. */
export const InferencePool = new TypedKind<InferencePool>({
  group: "inference.networking.k8s.io",
  version: "v1",
  kind: "InferencePool",
  plural: "inferencepools",
  namespaced: true,
});
export interface InferencePool extends KubeObject {
  readonly spec: {
    readonly targetPorts: readonly { readonly number: number }[];
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly endpointPickerRef: { readonly kind: "Service"; readonly name: string; readonly port: { number: number } };
  };
}
