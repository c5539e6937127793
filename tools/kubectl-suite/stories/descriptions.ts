import { kubectl, story } from "../story.ts";
import { configMap, deployment, pod, service } from "./manifests.ts";

const template = (name: string) => deployment(name).spec.template;

const claim = {
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "data" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, storageClassName: "slow" },
};

const volume = {
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name: "suite-disk" },
  spec: {
    capacity: { storage: "1Gi" },
    accessModes: ["ReadWriteOnce", "ReadOnlyMany"],
    hostPath: { path: "/data" },
    storageClassName: "slow",
  },
};

const storageClass = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "suite-slow", annotations: { "storageclass.kubernetes.io/is-default-class": "false" } },
  provisioner: "example.com/disk",
};

const statefulSet = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "db" },
  spec: { serviceName: "db", replicas: 2, selector: { matchLabels: { app: "db" } }, template: template("db") },
};

const daemonSet = {
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata: { name: "agent" },
  spec: { selector: { matchLabels: { app: "agent" } }, template: template("agent") },
};

const networkPolicy = {
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: { name: "closed" },
  spec: { podSelector: { matchLabels: { app: "db" } }, policyTypes: ["Ingress"], ingress: [{ ports: [{ port: 80 }] }] },
};

const limitRange = {
  apiVersion: "v1",
  kind: "LimitRange",
  metadata: { name: "limits" },
  spec: { limits: [{ type: "Container", default: { cpu: "1" }, defaultRequest: { cpu: "100m" } }] },
};

const richPod = pod("rich", {
  initContainers: [{ name: "before", image: "example.com/init:1", command: ["sh", "-c", "true"] }],
  containers: [
    {
      name: "main",
      image: "example.com/web:1",
      env: [
        { name: "A", value: "1" },
        { name: "B", valueFrom: { configMapKeyRef: { name: "settings", key: "a" } } },
        { name: "C", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
      ],
      resources: { limits: { cpu: "1", memory: "1Gi" }, requests: { cpu: "500m" } },
      livenessProbe: { httpGet: { path: "/healthz", port: 80 } },
      volumeMounts: [{ name: "settings", mountPath: "/etc/settings", readOnly: true }],
    },
  ],
  volumes: [
    { name: "settings", configMap: { name: "settings" } },
    { name: "scratch", emptyDir: {} },
  ],
  tolerations: [{ key: "gpu", operator: "Exists", effect: "NoSchedule" }],
  nodeSelector: { zone: "a" },
});

export const descriptions = [
  story(
    "describe",
    kubectl("create -f -", {
      input: [configMap("settings", { a: "1", long: "one\ntwo\n" }), service("web"), deployment("web"), claim, volume],
    }),
    kubectl("create -f -", { input: [storageClass, statefulSet, daemonSet, networkPolicy] }),
    kubectl("create -f -", { input: richPod }),
    kubectl("create -f -", { input: limitRange }),
    kubectl("describe configmap settings"),
    kubectl("describe service web"),
    kubectl("describe deployment web"),
    kubectl("describe pod rich"),
    kubectl("describe pvc data"),
    kubectl("describe pv suite-disk"),
    kubectl("describe storageclass suite-slow"),
    kubectl("describe statefulset db"),
    kubectl("describe daemonset agent"),
    kubectl("describe networkpolicy closed"),
    kubectl("describe limitrange limits"),
    kubectl("describe namespace suite-describe"),
    kubectl("describe priorityclass system-node-critical"),
    kubectl("describe clusterrolebinding cluster-admin"),
    kubectl("describe pods -l app=nobody"),
    kubectl("describe pod nobody"),
    kubectl("get pod rich -o yaml"),
    kubectl("get pvc,pv,storageclass -o wide", { unordered: true }),
    kubectl("get statefulset,daemonset,networkpolicy,limitrange -o wide"),
    kubectl("get statefulset db -o yaml"),
    kubectl("get daemonset agent -o yaml"),
    kubectl("delete pv/suite-disk storageclass/suite-slow --wait=false"),
  ),
];
