import type { Child } from "@konverge/runtime";

const labels = { app: "web" };
const container = {
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
const podSpec = {
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
  const child = (apiVersion: string, kind: string, rest: object): Child => ({ apiVersion, kind, metadata, ...rest });
  return [
    child("v1", "ConfigMap", { data: { a: "1", empty: "" }, binaryData: { b: "AAEC" } }),
    child("v1", "Secret", { stringData: { password: "x" }, data: { token: "dG9rZW4=" }, type: "Opaque" }),
    child("v1", "ServiceAccount", { automountServiceAccountToken: false }),
    child("v1", "Service", {
      spec: { selector: labels, ports: [{ port: 80 }, { port: 443, targetPort: "tls", name: "t" }].slice(0, 1) },
    }),
    child("v1", "PersistentVolumeClaim", {
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1.5Gi" } }, storageClassName: "" },
    }),
    child("v1", "LimitRange", { spec: { limits: [{ type: "Container", defaultRequest: { cpu: "0.1" } }] } }),
    child("v1", "ResourceQuota", { spec: { hard: { pods: 10, "requests.cpu": "0.5" } } }),
    child("v1", "Pod", {
      spec: { containers: [{ ...container, resources: {} }], volumes: podSpec.volumes.slice(0, 3), hostNetwork: false },
    }),
    child("apps/v1", "Deployment", {
      spec: { replicas: 2, selector, template, paused: false, strategy: { type: "RollingUpdate" } },
    }),
    child("apps/v1", "StatefulSet", {
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
    child("apps/v1", "DaemonSet", { spec: { selector, template } }),
    child("batch/v1", "Job", {
      spec: {
        template: { metadata: { labels }, spec: { containers: [{ name: "m", image: "x" }], restartPolicy: "Never" } },
      },
    }),
    child("batch/v1", "CronJob", {
      spec: {
        schedule: "* * * * *",
        suspend: true,
        jobTemplate: {
          spec: { template: { spec: { containers: [{ name: "m", image: "x" }], restartPolicy: "OnFailure" } } },
        },
      },
    }),
    child("networking.k8s.io/v1", "Ingress", {
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
    child("networking.k8s.io/v1", "NetworkPolicy", {
      spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }], from: [{ podSelector: { matchLabels: labels } }] }] },
    }),
    child("autoscaling/v2", "HorizontalPodAutoscaler", {
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
        maxReplicas: 3,
        metrics: [
          { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } },
        ],
      },
    }),
    child("policy/v1", "PodDisruptionBudget", { spec: { selector, maxUnavailable: 1 } }),
    child("rbac.authorization.k8s.io/v1", "Role", {
      rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
    }),
    child("rbac.authorization.k8s.io/v1", "RoleBinding", {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
      subjects: [{ kind: "ServiceAccount", name: "default", namespace: "default" }],
    }),
    child("discovery.k8s.io/v1", "EndpointSlice", {
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.0.0.1"] }],
      ports: [{ port: 80 }],
    }),
    child("coordination.k8s.io/v1", "Lease", {
      spec: { holderIdentity: "x", renewTime: "2026-01-01T00:00:00.000000Z" },
    }),
  ];
}
