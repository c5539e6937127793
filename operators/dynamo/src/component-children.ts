import { type KubeObject, type ObjectMeta, TypedKind } from "konverge";
import {
  ConfigMap,
  Deployment,
  type DeploymentStatus,
  HorizontalPodAutoscaler,
  Ingress,
  type MetricSpec,
  type PodTemplateSpec,
  Service,
} from "konverge/kinds";
import { truncatedName } from "konverge/objects";
import type { ClaimSharing } from "konverge/pods";
import { isDiscoveredByKubernetes } from "./accounts.ts";
import { HTTP_PORT, PICKER_CONFIG, SYSTEM_PORT } from "./component-container.ts";
import type { DynamoComponentDeployment } from "./component-deployment.ts";
import {
  discoveryLabels,
  identityOf,
  labelsOf,
  modelHash,
  pickerConfigName,
  podTemplate,
  portOf,
  type Surroundings,
  selectorOf,
} from "./component-pod.ts";
import { BASE_MODEL, BASE_MODEL_HASH, SERVING } from "./names.ts";

function metadataOf(component: DynamoComponentDeployment): ObjectMeta {
  const { name, namespace } = component.metadata;
  return { name, namespace, labels: labelsOf(component) };
}

/** Whether an autoscaler decides how many replicas there are. */
export function isAutoscaled({ spec }: DynamoComponentDeployment): boolean {
  return spec.autoscaling?.enabled ?? false;
}

export function deploymentFor(
  component: DynamoComponentDeployment,
  around: Surroundings,
  { replicas = component.spec.replicas ?? 1, sharing }: { replicas?: number; sharing?: ClaimSharing | undefined } = {},
) {
  return Deployment.draft({
    metadata: metadataOf(component),
    spec: {
      ...(!isAutoscaled(component) && { replicas }),
      selector: { matchLabels: selectorOf(component) },
      // A new pod would wait for ever for a volume that the old one has for itself.
      strategy:
        sharing === "one-pod"
          ? { type: "Recreate" }
          : { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: 0 } },
      template: podTemplate(component, around, { sharing }),
    },
  });
}

/** Of the LeaderWorkerSet API, which need not be installed. */
export const LeaderWorkerSet = new TypedKind<LeaderWorkerSet>({
  group: "leaderworkerset.x-k8s.io",
  version: "v1",
  kind: "LeaderWorkerSet",
  plural: "leaderworkersets",
  namespaced: true,
});
/** As much of it as is written and read here. */
export interface LeaderWorkerSet extends KubeObject {
  readonly spec: {
    readonly replicas: number;
    readonly startupPolicy: "LeaderCreated" | "LeaderReady";
    readonly leaderWorkerTemplate: {
      readonly size: number;
      readonly restartPolicy: "None" | "RecreateGroupOnPodRestart";
      readonly leaderTemplate: PodTemplateSpec;
      readonly workerTemplate: PodTemplateSpec;
    };
  };
  readonly status?: DeploymentStatus | undefined;
}

/** Replicas of several pods each: a leader and its workers, placed, restarted and replaced together. */
export function leaderWorkerSetFor(component: DynamoComponentDeployment, around: Surroundings) {
  const { spec } = component;
  return LeaderWorkerSet.draft({
    metadata: metadataOf(component),
    spec: {
      replicas: spec.replicas ?? 1,
      startupPolicy: "LeaderCreated",
      leaderWorkerTemplate: {
        size: spec.multinode!.nodeCount,
        restartPolicy: "RecreateGroupOnPodRestart",
        leaderTemplate: podTemplate(component, around, { role: "leader" }),
        workerTemplate: podTemplate(component, around, { role: "worker" }),
      },
    },
  });
}

/**
 * Components that are asked by others have a Service; without a registry, all have one, since components find each other by
 * its EndpointSlices. One that serves a model has a headless one as well, by which adapters find its pods.
 */
export function servicesFor(component: DynamoComponentDeployment, around: Surroundings) {
  const metadata = metadataOf(component);
  const port = portOf(component);
  const { modelRef } = component.spec;
  const services = [];
  if (port || isDiscoveredByKubernetes(around)) {
    const { name, port: number } = port ?? { name: "system", port: SYSTEM_PORT };
    services.push(
      Service.draft({
        metadata: { ...metadata, labels: { ...metadata.labels, ...discoveryLabels(around) } },
        spec: {
          selector: { ...selectorOf(component), [SERVING]: "true" },
          ports: [{ name, port: number, targetPort: port ? name : number, protocol: "TCP" }],
        },
      }),
    );
  }
  if (modelRef) {
    services.push(
      Service.draft({
        metadata: {
          ...metadata,
          name: truncatedName(component.metadata.name, "model"),
          labels: { ...metadata.labels, [BASE_MODEL_HASH]: modelHash(modelRef.name) },
          annotations: { [BASE_MODEL]: modelRef.name },
        },
        spec: {
          clusterIP: "None",
          selector: selectorOf(component),
          ports: [{ name: "system", port: SYSTEM_PORT, targetPort: SYSTEM_PORT, protocol: "TCP" }],
        },
      }),
    );
  }
  return services;
}

/** What an endpoint picker is configured with, where the component has it itself. */
export function pickerConfigFor(component: DynamoComponentDeployment) {
  const { config } = component.spec.eppConfig ?? {};
  if (!config) return [];
  const metadata = { ...metadataOf(component), name: pickerConfigName(component) };
  const text = JSON.stringify({
    apiVersion: "inference.networking.x-k8s.io/v1alpha1",
    kind: "EndpointPickerConfig",
    ...config,
  });
  return [ConfigMap.draft({ metadata, data: { [PICKER_CONFIG.file]: text } })];
}

export function ingressesFor(component: DynamoComponentDeployment, around: Surroundings) {
  const { ingress } = component.spec;
  if (!ingress?.enabled) return [];
  const { name } = component.metadata;
  const suffix = ingress.hostSuffix ?? around.ingressSuffix;
  const base = `${ingress.hostPrefix ?? ""}${ingress.host ?? identityOf(component).graph ?? name}`;
  const host = suffix ? `${base}.${suffix}` : base;
  const { namespace, labels } = metadataOf(component);
  return [
    Ingress.draft({
      metadata: {
        name,
        namespace,
        labels: { ...ingress.labels, ...labels },
        ...(ingress.annotations && { annotations: ingress.annotations }),
      },
      spec: {
        ...(ingress.ingressControllerClassName && { ingressClassName: ingress.ingressControllerClassName }),
        ...(ingress.tls && {
          tls: [{ hosts: [host], ...(ingress.tls.secretName && { secretName: ingress.tls.secretName }) }],
        }),
        rules: [
          {
            host,
            http: {
              paths: [{ path: "/", pathType: "Prefix", backend: { service: { name, port: { number: HTTP_PORT } } } }],
            },
          },
        ],
      },
    }),
  ];
}

const CPU_TARGET = 80;

export function autoscalersFor(component: DynamoComponentDeployment) {
  const { autoscaling } = component.spec;
  if (!autoscaling?.enabled) return [];
  const { minReplicas, maxReplicas, behavior, metrics } = autoscaling;
  const { name } = component.metadata;
  const cpu: MetricSpec = {
    type: "Resource",
    resource: { name: "cpu", target: { type: "Utilization", averageUtilization: CPU_TARGET } },
  };
  return [
    HorizontalPodAutoscaler.draft({
      metadata: metadataOf(component),
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
        minReplicas,
        maxReplicas,
        ...(behavior && { behavior }),
        metrics: metrics ?? [cpu],
      },
    }),
  ];
}
