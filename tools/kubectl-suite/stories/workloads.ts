import type { Mask } from "../normalize.ts";
import { kubectl, story } from "../story.ts";
import { configMap, deployment, pod, service } from "./manifests.ts";

const job = (name: string) => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name },
  spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "example.com/job:1" }] } } },
});

/** When an autoscaler first measures is its own affair. */
const WITHOUT_MEASURES: readonly Mask[] = [
  [/(Deployment pods:)[\s\S]*/, "$1"],
  [/<unknown>|\d+%/g, "<metric>"],
  [/(cpu: <metric>\/<metric> +1 +3 +)\d+/, "$1<replicas>"],
];

export const workloads = [
  story(
    "rollout",
    kubectl("create -f -", { input: deployment("web", 3) }),
    kubectl("rollout status deployment/web --timeout=50s", { masks: [[/^Waiting .*\n/gm, ""]] }),
    kubectl("get deployment web", { until: /3\/3/ }),
    kubectl("get deployment web -o wide"),
    kubectl("get replicasets"),
    kubectl("get pods"),
    kubectl("get pods -l app=web -o name", { unordered: true }),
    kubectl("set image deployment/web main=example.com/web:2"),
    kubectl("rollout status deployment/web --timeout=50s", { masks: [[/^Waiting .*\n/gm, ""]] }),
    kubectl("annotate deployment web kubernetes.io/change-cause='second image'"),
    kubectl("rollout history deployment/web"),
    kubectl("rollout history deployment/web --revision=2"),
    kubectl("rollout undo deployment/web"),
    kubectl("rollout status deployment/web --timeout=50s", { masks: [[/^Waiting .*\n/gm, ""]] }),
    kubectl("rollout history deployment/web"),
    kubectl("get deployment web -o jsonpath='{.spec.template.spec.containers[0].image}'"),
    kubectl("rollout undo deployment/web --to-revision=9"),
    kubectl("rollout pause deployment/web"),
    kubectl("rollout pause deployment/web"),
    kubectl("rollout undo deployment/web"),
    kubectl("rollout resume deployment/web"),
    kubectl("rollout restart deployment/web"),
    kubectl("rollout status deployment/web --timeout=50s", { masks: [[/^Waiting .*\n/gm, ""]] }),
    kubectl("get replicasets --sort-by=.metadata.creationTimestamp", {
      until: /( 0 +0 +0[\s\S]*){2}/,
      unordered: true,
    }),
    kubectl("scale deployment web --replicas=1"),
    kubectl("get deployment web", { until: /1\/1/ }),
    kubectl("describe deployment web", {
      masks: [
        [/Events:[\s\S]*/, ""],
        [/\(\d+\/\d+ replicas created\)/g, ""],
      ],
      until: /Replicas: +1 desired \| 1 updated \| 1 total/,
    }),
    kubectl("get deployment web -o yaml"),
    kubectl("delete deployment web"),
    kubectl("get replicasets,pods", { until: /^$/ }),
  ),
  story(
    "cascades",
    kubectl("create -f -", { input: [deployment("kept", 1), deployment("gone", 1)] }),
    kubectl("get pods", { until: /(Running[\s\S]*){2}/ }),
    kubectl("delete deployment kept --cascade=orphan"),
    kubectl("get replicasets"),
    kubectl("get replicasets -l app=kept -o jsonpath={.items[*].metadata.ownerReferences}", { until: /^$/ }),
    kubectl("delete deployment gone --cascade=foreground"),
    kubectl("get replicasets,pods -l app=gone"),
    kubectl("delete replicasets -l app=kept --cascade=background"),
    kubectl("get pods", { until: /^$/ }),
  ),
  story(
    "pods",
    kubectl("run lone --image=example.com/web:1"),
    kubectl("wait pod/lone --for=condition=Ready --timeout=50s"),
    kubectl("get pod lone"),
    kubectl("get pod lone -o wide", { masks: [[/(node|gpu)-[\w-]+/g, "<node>"]] }),
    kubectl("describe pod lone", {
      masks: [
        // What nodes are like is the fixture's, not the server's.
        [/^Node: .*\n|^ +topology.*\n/gm, ""],
        [/(Image|Container) ID:.*/g, "$1 ID:"],
        [/^ +PodReadyToStartContainers.*\n/gm, ""],
        [/Events:[\s\S]*/, ""],
      ],
    }),
    kubectl("delete pod lone"),
    kubectl("create -f -", { input: [job("once"), service("lone")] }),
    kubectl("wait job/once --for=condition=Complete --timeout=50s"),
    kubectl("get jobs"),
    kubectl("describe job once", { masks: [[/Events:[\s\S]*/, ""]] }),
    kubectl("get pods -l job-name=once"),
    kubectl("events --for=job/once", { until: /Completed/, unordered: true }),
    kubectl("create job again --image=example.com/job:1 --dry-run=server -o yaml"),
    kubectl("delete job once"),
  ),
  story(
    "services",
    kubectl("create -f -", { input: [deployment("web", 2), service("web")] }),
    kubectl("rollout status deployment/web --timeout=50s", { masks: [[/^Waiting .*\n/gm, ""]] }),
    kubectl("get endpointslices -l kubernetes.io/service-name=web", { until: /,/ }),
    kubectl("describe service web", {
      until: /Endpoints: +\S+,/,
      masks: [[/Events:[\s\S]*/, ""]],
    }),
    kubectl("expose deployment web --name=second --port=81 --target-port=http"),
    kubectl("get service second -o wide"),
    kubectl("autoscale deployment web --min=1 --max=3 --cpu=50%"),
    kubectl("describe hpa web", { masks: WITHOUT_MEASURES }),
    kubectl("get all", { unordered: true, masks: WITHOUT_MEASURES }),
  ),
  story(
    "a node is drained",
    kubectl("create -f -", { input: deployment("web", 3) }),
    kubectl("rollout status deployment/web --timeout=50s", { masks: [[/^Waiting .*\n/gm, ""]] }),
    kubectl("drain node-1 --dry-run=client", { masks: [[/^(evicting|Warning).*\n/gm, ""]] }),
    kubectl("drain node-1 --timeout=50s --force --ignore-daemonsets", {
      masks: [[/^(evicting|pod\/).*\n/gm, ""]],
    }),
    kubectl("get node node-1 -o custom-columns=NAME:.metadata.name,CORDONED:.spec.unschedulable"),
    kubectl("get pods -o jsonpath='{.items[?(@.spec.nodeName==\"node-1\")].metadata.name}'", { until: /^$/ }),
    kubectl("rollout status deployment/web --timeout=50s", { masks: [[/^Waiting .*\n/gm, ""]] }),
    kubectl("uncordon node-1"),
    kubectl("get node node-1 -o custom-columns=NAME:.metadata.name,CORDONED:.spec.unschedulable"),
    kubectl(`get node node-1 -o jsonpath='{.status.conditions[?(@.type=="Ready")].status}'`),
  ),
  story(
    "namespaces",
    kubectl("get serviceaccounts", { until: /default/ }),
    kubectl("get configmaps", { until: /kube-root-ca.crt/ }),
    kubectl("describe clusterrole view", { until: /pods\/log/ }),
    kubectl("create namespace doomed"),
    kubectl("create -f - -n doomed", {
      input: [configMap("held", {}, { finalizers: ["example.com/hold"] }), pod("a")],
    }),
    kubectl("delete namespace doomed --wait=false"),
    kubectl("get namespace doomed"),
    kubectl(
      "get namespace doomed -o jsonpath='{range .status.conditions[*]}{.type}={.status} {.message}{\"\\n\"}{end}'",
      {
        until: /NamespaceFinalizersRemaining=True/,
      },
    ),
    kubectl("create configmap late -n doomed"),
    kubectl(`patch configmap held -n doomed --type=merge -p '{"metadata":{"finalizers":null}}'`),
    kubectl("wait namespace/doomed --for=delete --timeout=50s"),
    kubectl("get namespace doomed"),
  ),
];
