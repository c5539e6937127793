import assert from "node:assert/strict";
import {
  ClusterRole,
  ConfigMap,
  Deployment,
  Node,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  ResourceQuota,
  Secret,
  ServiceAccount,
} from "@konverge/kinds";
import {
  assertEvent,
  type Behavior,
  conditionOf,
  eventsAbout,
  find,
  labelsOf,
  podsOf,
  runAllUntil,
  type Stage,
  template,
} from "./stage.ts";

const getBudget = ({ client, namespace }: Stage) => client.get(PodDisruptionBudget, `${namespace}/web`);

async function replicas(stage: Stage, count: number): Promise<void> {
  const spec = { replicas: count, selector: { matchLabels: { ...labelsOf } }, template: template() };
  await stage.client.create(ReplicaSet, { metadata: { name: "web", namespace: stage.namespace }, spec });
}

export const guards: Record<string, Behavior> = {
  "a disruption budget counts how many pods may go": async (stage) => {
    const { client, namespace } = stage;
    await replicas(stage, 4);
    await client.create(PodDisruptionBudget, {
      metadata: { name: "web", namespace },
      spec: { minAvailable: "50%", selector: { matchLabels: { ...labelsOf } } },
    });
    await runAllUntil(stage, "two may go", async () => (await getBudget(stage)).status?.disruptionsAllowed === 2);
    const budget = await getBudget(stage);
    assert.equal(budget.status?.expectedPods, 4);
    assert.equal(budget.status?.desiredHealthy, 2);
    assert.equal(budget.status?.currentHealthy, 4);
    assert.equal(conditionOf(budget, "DisruptionAllowed"), "True SufficientPods");
    await client.patch(PodDisruptionBudget, `${namespace}/web`, { merge: { spec: { minAvailable: 4 } } });
    await stage.until("none may go", async () => {
      return conditionOf(await getBudget(stage), "DisruptionAllowed") === "False InsufficientPods";
    });
  },

  "a budget follows its Deployment's size, and says what it cannot count": async (stage) => {
    const { client, namespace } = stage;
    const spec = { replicas: 4, selector: { matchLabels: { ...labelsOf } }, template: template() };
    await client.create(PodDisruptionBudget, {
      metadata: { name: "web", namespace },
      spec: { maxUnavailable: "25%", selector: { matchLabels: { ...labelsOf } } },
    });
    await assertEvent(stage, "PodDisruptionBudget", "web", /^Normal NoPods No matching pods found$/);
    await client.create(Deployment, { metadata: { name: "web", namespace }, spec });
    await runAllUntil(stage, "one may go", async () => (await getBudget(stage)).status?.disruptionsAllowed === 1);
    const { status } = await getBudget(stage);
    assert.deepEqual([status?.expectedPods, status?.desiredHealthy, status?.currentHealthy], [4, 3, 4]);
    await client.delete(Deployment, `${namespace}/web`);
    await stage.until("all are gone", async () => (await podsOf(stage)).length === 0);
    const { metadata, spec: pod } = template();
    await client.create(Pod, { metadata: { ...metadata, name: "alone", namespace }, spec: pod });
    await assertEvent(
      stage,
      "PodDisruptionBudget",
      "web",
      /^Warning UnmanagedPods .*\(selector: &LabelSelector{MatchLabels:map\[string\]string{app: web,},MatchExpressions:\[\]LabelSelectorRequirement{},}\) were found to be unmanaged\./,
    );
    await stage.quiet();
    const events = await eventsAbout(stage, "PodDisruptionBudget", "web");
    const known = ["NoPods", "UnmanagedPods", "CalculateExpectedPodCountFailed"];
    assert.deepEqual(
      events.filter((line) => !known.includes(line.split(" ")[1]!)),
      [],
    );
  },

  "a quota says what is used": async (stage) => {
    const { client, namespace } = stage;
    await client.create(ResourceQuota, {
      metadata: { name: "limits", namespace },
      spec: { hard: { pods: "10", "requests.cpu": "4", "count/replicasets.apps": "5", secrets: "9" } },
    });
    const used = async () => (await client.get(ResourceQuota, `${namespace}/limits`)).status?.used ?? {};
    await stage.until("it is counted", async () => (await used())["pods"] === "0");
    const containers = [{ name: "main", image: "web", resources: { requests: { cpu: "250m" } } }];
    for (const name of ["a", "b"]) await client.create(Pod, { metadata: { name, namespace }, spec: { containers } });
    await stage.until("the pods are counted", async () => {
      const now = await used();
      return now["pods"] === "2" && now["requests.cpu"] === "500m";
    });
    await client.delete(Pod, `${namespace}/a`, { gracePeriodSeconds: 0 });
    await stage.until("the pod is no longer counted", async () => (await used())["requests.cpu"] === "250m");
  },

  "a quota with a scope counts the pods in it, and no others": async (stage) => {
    const { client, namespace } = stage;
    const scope = (scopeName: "CrossNamespacePodAffinity" | "PriorityClass" | "BestEffort") => ({
      matchExpressions: [{ scopeName, operator: "Exists" as const }],
    });
    const scopes = ["CrossNamespacePodAffinity", "PriorityClass", "BestEffort"] as const;
    for (const scopeName of scopes) {
      await client.create(ResourceQuota, {
        metadata: { name: scopeName.toLowerCase(), namespace },
        spec: { hard: { pods: "5" }, scopeSelector: scope(scopeName) },
      });
    }
    const used = () =>
      Promise.all(
        scopes.map(async (scopeName) => {
          const { status } = await client.get(ResourceQuota, `${namespace}/${scopeName.toLowerCase()}`);
          return status?.used?.["pods"];
        }),
      );
    const hasUsed = async (...counts: string[]) => (await used()).join() === counts.join();
    await stage.until("they are counted", () => hasUsed("0", "0", "0"));
    const podAffinityTerm = { topologyKey: "region", labelSelector: {} };
    const antiAffinity = (term: object) => ({
      affinity: {
        podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ ...podAffinityTerm, ...term }] },
      },
    });
    const pod = (name: string, more: object, resources: object = {}) =>
      client.create(Pod, {
        metadata: { name, namespace },
        spec: { containers: [{ name: "main", image: "web", resources }], ...more },
      });
    await pod("here", antiAffinity({}), { requests: { cpu: "1" } });
    await pod("named", antiAffinity({ namespaces: ["default"] }), { requests: { cpu: "1" } });
    await pod("selected", antiAffinity({ namespaceSelector: {} }));
    await stage.until("two cross namespaces, one is best effort", () => hasUsed("2", "0", "1"));
    await client.delete(Pod, `${namespace}/selected`, { gracePeriodSeconds: 0 });
    await stage.until("it is no longer counted", () => hasUsed("1", "0", "0"));
  },

  "every namespace has a default service account and the authority's certificate": async (stage) => {
    const { client, namespace } = stage;
    const account = () => find(stage, ServiceAccount, `${namespace}/default`);
    const certificate = () => find(stage, ConfigMap, `${namespace}/kube-root-ca.crt`);
    await stage.until("both are there", async () => Boolean((await account()) && (await certificate())));
    assert.deepEqual(Object.keys((await certificate())?.data ?? {}), ["ca.crt"]);
    const before = (await account())!.metadata.uid;
    await client.delete(ServiceAccount, `${namespace}/default`);
    await stage.until("the account is back", async () => {
      const found = await account();
      return found !== undefined && found.metadata.uid !== before;
    });
    await client.delete(ConfigMap, `${namespace}/kube-root-ca.crt`);
    await stage.until("the certificate is back", async () => Boolean(await certificate()));
  },

  "a Secret that asks for an account's token gets it, and goes with the account": async (stage) => {
    const { client, namespace } = stage;
    const { uid } = (await client.create(ServiceAccount, { metadata: { name: "robot", namespace } })).metadata;
    const make = (name: string, account: string) =>
      client.create(Secret, {
        metadata: { name, namespace, annotations: { "kubernetes.io/service-account.name": account } },
        type: "kubernetes.io/service-account-token",
      });
    const get = (name: string) => find(stage, Secret, `${namespace}/${name}`);
    await make("robot-token", "robot");
    await stage.until("it is filled", async () => Boolean((await get("robot-token"))?.data?.["token"]));
    const { data = {}, metadata } = (await get("robot-token"))!;
    assert.deepEqual(Object.keys(data).sort(), ["ca.crt", "namespace", "token"]);
    assert.equal(metadata.annotations?.["kubernetes.io/service-account.uid"], uid);
    const text = (key: string) => Buffer.from(data[key]!, "base64").toString();
    assert.equal(text("namespace"), namespace);
    const claims = JSON.parse(Buffer.from(text("token").split(".")[1]!, "base64url").toString()) as object;
    assert.deepEqual(claims, {
      iss: "kubernetes/serviceaccount",
      "kubernetes.io/serviceaccount/namespace": namespace,
      "kubernetes.io/serviceaccount/secret.name": "robot-token",
      "kubernetes.io/serviceaccount/service-account.name": "robot",
      "kubernetes.io/serviceaccount/service-account.uid": uid,
      sub: `system:serviceaccount:${namespace}:robot`,
    });
    const review = await client.request({
      method: "POST",
      path: "/apis/authentication.k8s.io/v1/tokenreviews",
      body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token: text("token") } },
    });
    const { status } = JSON.parse(review) as { status: { user: { username: string } } };
    assert.equal(status.user.username, `system:serviceaccount:${namespace}:robot`);
    await client.delete(ServiceAccount, `${namespace}/robot`);
    await stage.until("it is gone", async () => !(await get("robot-token")));
  },

  "a cordoned node is tainted, and pods leave a node with a taint that they do not tolerate": async (stage) => {
    const { client, namespace } = stage;
    const name = `${namespace}-node`;
    await client.create(Node, { metadata: { name } });
    await client.patch(Node, name, { merge: { spec: { unschedulable: true } } });
    const keys = async () =>
      (await client.get(Node, name)).spec?.taints?.map(({ key, effect }) => `${key} ${effect}`) ?? [];
    await stage.until("it is tainted", async () =>
      (await keys()).includes("node.kubernetes.io/unschedulable NoSchedule"),
    );
    const toleration = { key: "example.com/broken", operator: "Exists" as const, effect: "NoExecute" as const };
    const { spec, metadata } = template();
    const make = (pod: string, tolerations: object[]) =>
      client.create(Pod, {
        metadata: { ...metadata, name: pod, namespace },
        spec: { ...spec, nodeName: name, tolerations: tolerations as never, terminationGracePeriodSeconds: 0 },
      });
    await make("fragile", []);
    await make("patient", [{ ...toleration, tolerationSeconds: 3 }]);
    await make("tough", [toleration]);
    const { taints = [] } = (await client.get(Node, name)).spec ?? {};
    const taint = { key: "example.com/broken", effect: "NoExecute" as const };
    await client.patch(Node, name, { merge: { spec: { taints: [...taints, taint] } } });
    const isLeaving = async (pod: string) => {
      const found = await find(stage, Pod, `${namespace}/${pod}`);
      return !found || found.metadata.deletionTimestamp !== undefined;
    };
    await stage.until("the fragile one leaves", () => isLeaving("fragile"));
    await stage.until("the patient one leaves", () => isLeaving("patient"));
    await stage.quiet();
    assert.equal(await isLeaving("tough"), false);
    await client.delete(Node, name);
  },

  "a ClusterRole gathers the rules of those that it selects": async (stage) => {
    const { client, namespace } = stage;
    const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }];
    const labels = { [`${namespace}.example.com/gather`]: "true" };
    await client.create(ClusterRole, { metadata: { name: `${namespace}-part`, labels }, rules });
    await client.create(ClusterRole, {
      metadata: { name: `${namespace}-whole` },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: labels }] },
      rules: [],
    });
    const gathered = async () => (await client.get(ClusterRole, `${namespace}-whole`)).rules;
    await stage.until(
      "it has the rules",
      async () => JSON.stringify(await gathered()) === JSON.stringify(rules) || (await gathered())?.length === 1,
    );
    assert.deepEqual((await gathered())?.[0]?.resources, ["pods"]);
    await client.delete(ClusterRole, `${namespace}-part`);
    await stage.until("it has lost them", async () => ((await gathered())?.length ?? 0) === 0);
  },

  "pods that are refused are reported in the ReplicaSet's conditions and events": async (stage) => {
    const { client, namespace } = stage;
    const spec = {
      replicas: 2,
      selector: { matchLabels: { ...labelsOf } },
      template: template("web:1", { priorityClassName: "nowhere" }),
    };
    await client.create(ReplicaSet, { metadata: { name: "web", namespace }, spec });
    await stage.until("the refusal is reported", async () => {
      return conditionOf(await client.get(ReplicaSet, `${namespace}/web`), "ReplicaFailure") === "True FailedCreate";
    });
    await assertEvent(
      stage,
      "ReplicaSet",
      "web",
      /^Warning FailedCreate Error creating: pods "web-" is forbidden: no PriorityClass with name nowhere was found$/,
    );
    assert.equal((await podsOf(stage)).length, 0);
  },
};
