import { type KubeObject, TypedKind } from "konverge";
import { HTTP_PORT, PICKER_PORT, poolName } from "./component-container.ts";
import type { DynamoComponentDeployment } from "./component-deployment.ts";
import { identityOf, labelsOf } from "./component-pod.ts";
import { COMPONENT_CLASS, NAMESPACE } from "./names.ts";

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

/** The workers that an endpoint picker chooses from, for the gateways that ask it. */
export function inferencePoolFor(component: DynamoComponentDeployment) {
  const { type, graph, dynamoNamespace } = identityOf(component);
  if (type !== "epp" || !graph) return [];
  const { name, namespace } = component.metadata;
  return [
    InferencePool.draft({
      metadata: { name: poolName(graph), namespace, labels: labelsOf(component) },
      spec: {
        targetPorts: [{ number: HTTP_PORT }],
        selector: { matchLabels: { [COMPONENT_CLASS]: "worker", [NAMESPACE]: dynamoNamespace } },
        endpointPickerRef: { kind: "Service", name, port: { number: PICKER_PORT } },
      },
    }),
  ];
}
