import type { Mask } from "../normalize.ts";
import { proxied } from "../proxied.ts";
import { kubectl, story } from "../story.ts";
import { node, pod } from "./manifests.ts";

/** Built-in kinds are published without the prose of their fields. */
export const WITHOUT_PROSE: readonly Mask[] = [
  [/(?<=DESCRIPTION:\n)[\s\S]*?(?=FIELDS:)/, ""],
  [/^ {4}[^\t\n]*\n/gm, ""],
];

/** Not of the moment, and the same on every server of a version. */
const KINDS = ["pods", "pods.spec.containers", "deployments.spec.strategy", "services", "jobs.spec", "nodes.status"];

/** Asks for a certificate of CN=jane. */
const SIGNING_REQUEST = [
  "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlJQ1ZEQ0NBVHdDQVFBd0R6RU5NQXNHQTFVRUF3d0VhbUZ1WlRD",
  "Q0FTSXdEUVlKS29aSWh2Y05BUUVCQlFBRApnZ0VQQURDQ0FRb0NnZ0VCQUtlcDRaZzJUREg2TFNHV2xjTnZCNkUwZnBwMzZ4U1kw",
  "eW0vVzIwRUtVcXZjTFVSCnVNdnJpSUxraGNQMnJUQTJYRDF1enBpUjZYZUswVC9QT0xJRkpUWWJyaUVEM1BPTWVpUk9jb0lrMUMw",
  "L3N4K0YKV0crQ1pxa3pUL2NJWkxSQlhZdGJXSmhjRXgxcFBvNXhIS2NjSVRaZ2ROSUJ5ZG15MzcyUFdQV2Y4cUh0U3lRNgovcVFL",
  "L1hNWDVXZFJ4bkt5Q044a1diTHZ4TDZzc2YrNEFlTTNWdWZIS0d6cjRBZ1RoNHJYNUFPTmNaTWhHNndkClFwRkRMdXpnYkdUcFBv",
  "NlhUSm1KbzhPOW8rczRhQ213UGQrM0tjUGN4N0JpM1F3WWdZUCt2WFRKV2dXUXVWRC8Kb05DUy9SN2t2THpXUG5FZkZwRUR1cUc5",
  "TDcwTXlTemJGQTduL1hrQ0F3RUFBYUFBTUEwR0NTcUdTSWIzRFFFQgpDd1VBQTRJQkFRQjBBYXVoYm4xaGxuZHhxSmY1SUJ3Zysz",
  "MmF5Y2VDTGU1SnBhY3pDbEFvYnRlTjlzeTJxMjFHCjJhM1k4ejdGU3I1TDRsbml6cDQ5U1N0MUMwOHNCL2ZkZUw0czFNR0I5R2hI",
  "UVYvaGNtalhwSms4WXptL1hOSzkKUUd4elpSRm15UXFQdGJyNndIaVpXSTRLb216aVlIZnhTUnN1c0huWElZUGRSbXZpMFdwbld3",
  "Sm5wZk5yQXZEawo0N0NmNFdnTXloclhMSVRBYjdYa2hiMWM5NXZZK1R4QTFlL1RMZWM4L2VDdStGcEpkWUFHanV5RzFSeTN0UHhz",
  "CnlmY3Z6OTFDZEtFVjhWT29CTGdWMUt4YktLajZRVEhBdEFZLzB4QzNkU2dpUVBScC9BT1dacThoNlFwTithYkwKem9XaldRd2hQ",
  "MFdBN2x1czBFS1NDVy9qY284b3ZuY3cKLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==",
].join("");

const signingRequest = (name: string) => ({
  apiVersion: "certificates.k8s.io/v1",
  kind: "CertificateSigningRequest",
  metadata: { name },
  spec: {
    request: SIGNING_REQUEST,
    signerName: "example.com/signer",
    usages: ["client auth"],
  },
});

export const cluster = [
  story(
    "discovery",
    kubectl("api-versions"),
    kubectl("api-resources"),
    kubectl("api-resources -o wide"),
    kubectl("api-resources --namespaced=false --api-group=rbac.authorization.k8s.io"),
    kubectl("api-resources --verbs=list,create --sort-by=kind -o name"),
    kubectl("api-resources --categories=all"),
    kubectl("cluster-info"),
    kubectl("version"),
    ...KINDS.map((kind) => kubectl(`explain ${kind}`, { masks: WITHOUT_PROSE })),
    kubectl("explain pods.nothing"),
    kubectl("explain nothing"),
  ),
  story(
    "auth",
    kubectl("auth whoami"),
    kubectl("auth whoami -o yaml"),
    kubectl("auth can-i create pods"),
    kubectl("auth can-i create pods --as=jane"),
    kubectl("auth can-i '*' '*'"),
    kubectl("auth can-i get /healthz --as=jane"),
    kubectl("auth can-i list nothing"),
    kubectl("auth can-i --list"),
    kubectl("auth can-i --list --as=jane"),
    kubectl("create role reader --verb=get,list --resource=pods,services"),
    kubectl("create rolebinding readers --role=reader --user=jane"),
    kubectl("auth can-i list pods --as=jane"),
    kubectl("auth can-i delete pods --as=jane -q"),
    kubectl("get pods --as=jane"),
    kubectl("get secrets --as=jane"),
    kubectl("create configmap a --as=jane"),
    kubectl("auth can-i --list --as=jane"),
    kubectl("auth reconcile -f -", {
      input: {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "Role",
        metadata: { name: "reader" },
        rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }],
      },
    }),
    kubectl("get role reader -o yaml"),
    kubectl("create role writer --verb=create --resource=pods --as=jane"),
  ),
  story(
    "nodes",
    kubectl("create -f -", { input: [node("suite-a"), node("suite-b")] }),
    kubectl("get nodes"),
    kubectl("get nodes -o wide"),
    kubectl("get node suite-a -o yaml"),
    kubectl("taint nodes suite-a dedicated=gpu:NoSchedule"),
    kubectl("taint nodes suite-a dedicated=cpu:NoSchedule"),
    kubectl("taint nodes suite-a dedicated=cpu:NoSchedule --overwrite"),
    kubectl("taint nodes suite-a dedicated:NoSchedule-"),
    kubectl("taint nodes suite-a missing-"),
    kubectl("taint nodes suite-a bad:Sometimes"),
    kubectl("cordon suite-a"),
    kubectl("cordon suite-a"),
    kubectl("get nodes"),
    kubectl("uncordon suite-a"),
    kubectl("cordon nobody"),
    kubectl("create -f -", { input: pod("placed", { nodeName: "suite-b" }) }),
    kubectl("drain suite-b"),
    kubectl("drain suite-b --force --dry-run=server"),
    kubectl("drain suite-b --force --grace-period=0 --disable-eviction --timeout=5s"),
    kubectl("describe node suite-a"),
    kubectl("delete node suite-a suite-b"),
  ),
  story(
    "certificates",
    kubectl("create -f -", { input: [signingRequest("suite-good"), signingRequest("suite-bad")] }),
    kubectl("get csr"),
    kubectl("get csr -o wide"),
    kubectl("certificate approve suite-good"),
    kubectl("certificate deny suite-bad"),
    kubectl("certificate approve nobody"),
    kubectl("get csr"),
    kubectl("get csr suite-good -o yaml"),
    kubectl("delete csr suite-good suite-bad"),
  ),
  story(
    "proxy",
    kubectl("create configmap seen --from-literal=a=1"),
    proxied("/api/v1/namespaces/suite-proxy/configmaps/seen"),
    proxied("/healthz"),
    proxied("/api/v1/namespaces/suite-proxy/configmaps/nothing"),
  ),
  story(
    "events",
    kubectl("events"),
    kubectl("create -f -", { input: pod("web") }),
    kubectl("create -f -", {
      input: {
        apiVersion: "v1",
        kind: "Event",
        metadata: { name: "web.1" },
        involvedObject: { apiVersion: "v1", kind: "Pod", name: "web", namespace: "suite-events" },
        type: "Warning",
        reason: "Odd",
        message: "something is odd",
        count: 3,
        source: { component: "suite", host: "here" },
        firstTimestamp: "2024-01-01T00:00:00Z",
        lastTimestamp: "2024-01-01T00:05:00Z",
      },
    }),
    kubectl("get events"),
    kubectl("get events -o wide"),
    kubectl("get events --field-selector=involvedObject.name=web,type=Warning -o name"),
    kubectl("get events.events.k8s.io web.1 -o yaml"),
    kubectl("events"),
    kubectl("events --for=pod/web --types=Warning"),
    kubectl("events --for=pod/nobody"),
    kubectl("events -A -o name"),
    kubectl("describe pod web"),
  ),
];
