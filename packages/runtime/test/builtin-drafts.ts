import {
  ConfigMap,
  type Container,
  CronJob,
  DaemonSet,
  Deployment,
  EndpointSlice,
  HorizontalPodAutoscaler,
  Ingress,
  Job,
  Lease,
  LimitRange,
  NetworkPolicy,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  type PodSpec,
  ResourceQuota,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
  StatefulSet,
} from "@konverge/kinds";
import type { Child } from "@konverge/runtime";

const labels = { app: "web" };
const container: Container = {
  name: "main",
  image: "nginx:1",
  command: ["sh"],
  args: ["-c", "true"],
  stdin: false,
  ports: [{ containerPort: 80 }, { containerPort: 53, protocol: "UDP", name: "dns" }],
  env: [
    { name: "PLAIN", value: "1" },
    { name: "EMPTY", value: "" },
    { name: "FIELD", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
    { name: "LIMIT", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } },
    { name: "SECRET", valueFrom: { secretKeyRef: { name: "s", key: "k" } } },
  ],
  envFrom: [{ configMapRef: { name: "c" } }],
  resources: { limits: { cpu: "0.5", memory: "1024Mi" }, requests: { cpu: 0.25 } },
  livenessProbe: { httpGet: { path: "/live", port: 80 }, initialDelaySeconds: 0 },
  readinessProbe: { tcpSocket: { port: "dns" } },
  lifecycle: { preStop: { exec: { command: ["true"] } } },
  securityContext: { privileged: false, capabilities: { drop: ["ALL"] } },
  volumeMounts: [{ name: "config", mountPath: "/config", readOnly: false }],
};
const podSpec: PodSpec = {
  containers: [container],
  initContainers: [{ name: "init", image: "busybox" }],
  hostNetwork: false,
  securityContext: {},
  serviceAccountName: "default",
  nodeSelector: { disk: "ssd" },
  tolerations: [{ key: "gpu", operator: "Exists" }],
  affinity: {
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, podAffinityTerm: { topologyKey: "zone", labelSelector: { matchLabels: labels } } },
      ],
    },
  },
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway", labelSelector: { matchLabels: labels } },
  ],
  volumes: [
    { name: "config", configMap: { name: "c", items: [{ key: "k", path: "p" }] } },
    { name: "empty", emptyDir: {} },
    { name: "sized", emptyDir: { sizeLimit: "1000Mi", medium: "Memory" } },
    { name: "token", projected: { sources: [{ serviceAccountToken: { path: "t" } }] } },
  ],
};
const template = { metadata: { labels }, spec: podSpec };
const selector = { matchLabels: labels };

/** A child of most kinds that operators make, with much that servers default, drop or rewrite. */
export function builtinDrafts(name: string): Child[] {
  const metadata = { name };
  return [
    ConfigMap.draft({ metadata, data: { a: "1", empty: "" }, binaryData: { b: "AAEC" } }),
    Secret.draft({ metadata, stringData: { password: "x" }, data: { token: "dG9rZW4=" }, type: "Opaque" }),
    ServiceAccount.draft({ metadata, automountServiceAccountToken: false }),
    Service.draft({
      metadata,
      spec: { selector: labels, ports: [{ port: 80 }, { port: 443, targetPort: "tls", name: "t" }].slice(0, 1) },
    }),
    PersistentVolumeClaim.draft({
      metadata,
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1.5Gi" } }, storageClassName: "" },
    }),
    LimitRange.draft({ metadata, spec: { limits: [{ type: "Container", defaultRequest: { cpu: "0.1" } }] } }),
    ResourceQuota.draft({ metadata, spec: { hard: { pods: 10, "requests.cpu": "0.5" } } }),
    Pod.draft({
      metadata,
      spec: {
        containers: [{ ...container, resources: {} }],
        volumes: podSpec.volumes!.slice(0, 3),
        hostNetwork: false,
      },
    }),
    Deployment.draft({
      metadata,
      spec: { replicas: 2, selector, template, paused: false, strategy: { type: "RollingUpdate" } },
    }),
    StatefulSet.draft({
      metadata,
      spec: {
        replicas: 0,
        serviceName: name,
        selector,
        template,
        volumeClaimTemplates: [
          {
            metadata: { name: "data" },
            spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
          },
        ],
      },
    }),
    DaemonSet.draft({ metadata, spec: { selector, template } }),
    Job.draft({
      metadata,
      spec: {
        template: { metadata: { labels }, spec: { containers: [{ name: "m", image: "x" }], restartPolicy: "Never" } },
      },
    }),
    CronJob.draft({
      metadata,
      spec: {
        schedule: "* * * * *",
        suspend: true,
        jobTemplate: {
          spec: { template: { spec: { containers: [{ name: "m", image: "x" }], restartPolicy: "OnFailure" } } },
        },
      },
    }),
    Ingress.draft({
      metadata,
      spec: {
        rules: [
          {
            host: "a.example",
            http: {
              paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "s", port: { number: 80 } } } }],
            },
          },
        ],
        tls: [{ hosts: ["a.example"] }],
      },
    }),
    NetworkPolicy.draft({
      metadata,
      spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }], from: [{ podSelector: { matchLabels: labels } }] }] },
    }),
    HorizontalPodAutoscaler.draft({
      metadata,
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
        maxReplicas: 3,
        metrics: [
          { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } },
        ],
      },
    }),
    PodDisruptionBudget.draft({ metadata, spec: { selector, maxUnavailable: 1 } }),
    Role.draft({ metadata, rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] }),
    RoleBinding.draft({
      metadata,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
      subjects: [{ kind: "ServiceAccount", name: "default", namespace: "default" }],
    }),
    EndpointSlice.draft({
      metadata,
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.0.0.1"] }],
      ports: [{ port: 80 }],
    }),
    Lease.draft({ metadata, spec: { holderIdentity: "x", renewTime: "2026-01-01T00:00:00.000000Z" } }),
  ];
}
