import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startCluster } from "@konverge/cluster";
import { type Deployment, NetworkPolicy, Node, PodDisruptionBudget, type PolicyRule } from "@konverge/kinds";
import { operators } from "@konverge/operators";
import { controller, operator, permission } from "@konverge/runtime";
import { parseYaml } from "@konverge/schema";
import { Greeting, greetingOperator } from "../../test/greeting-operator.ts";
import { DEFAULT_IMAGE } from "./defaults.ts";
import { manifestFiles } from "./files.ts";
import { lineDifferences } from "./line-differences.ts";
import { operatorObjects, partsOf } from "./operator-objects.ts";
import { reasonFor } from "./reasons.ts";
import { manifestDifferences, writeManifests } from "./write-manifests.ts";

const options = { namespace: "default", image: DEFAULT_IMAGE };

test("the same operators give the same text, and every file can be read back", () => {
  const files = manifestFiles([greetingOperator], options);
  assert.deepEqual([...manifestFiles([greetingOperator], options)], [...files]);
  for (const [path, text] of files) assert.ok(parseYaml(text.split("\n---\n")[0]!), path);
  assert.ok(files.has("greeting-operator/schemas/greeting-v1alpha1.json"));
  const role = files.get("greeting-operator/role.yaml")!;
  assert.match(role, /# Reconciles each Greeting\.\n- apiGroups:\n {2}- test\.example\.com\n/);
  assert.match(role, /# Keeps the certificates of its webhooks\.\n/);
  assert.match(role, /# Keeps its admission webhooks registered\.\n/);
});

test("every rule of every operator has a reason that says more than that it is used", () => {
  for (const operator of [...operators, greetingOperator]) {
    const parts = partsOf(operator);
    for (const role of operatorObjects(operator, options).roles) {
      for (const rule of (role as { rules?: PolicyRule[] }).rules ?? []) {
        const reason = reasonFor(rule, operator.name, parts);
        assert.doesNotMatch(reason, /^uses it in its code/, `${operator.name}: ${JSON.stringify(rule)}`);
      }
    }
  }
});

const rulesOf = (objects: ReturnType<typeof operatorObjects>) =>
  objects.roles.flatMap((role) => (role as { rules?: PolicyRule[] }).rules ?? []);

test("no operator may create webhook configurations: it gets and patches its own by name", () => {
  for (const operator of [...operators, greetingOperator]) {
    const objects = operatorObjects(operator, options);
    const rules = rulesOf(objects).filter(({ apiGroups }) => apiGroups?.includes("admissionregistration.k8s.io"));
    assert.equal(rules.flatMap(({ resources = [] }) => resources).length, objects.webhooks.length, operator.name);
    for (const { verbs, resourceNames } of rules)
      assert.deepEqual([verbs, resourceNames], [["get", "patch"], [operator.name]]);
    const converted = rulesOf(objects).filter(
      ({ resources, verbs }) => resources?.includes("customresourcedefinitions") && verbs.includes("patch"),
    );
    for (const { resourceNames = [] } of converted) assert.notEqual(resourceNames.length, 0, operator.name);
  }
});

test("with certificates of cert-manager, an operator has no permission on registrations, definitions or Secrets of its own", () => {
  const objects = operatorObjects(greetingOperator, { ...options, webhookCa: "cert-manager" });
  const resources = rulesOf(objects).flatMap((rule) => rule.resources ?? []);
  assert.ok(
    !resources.some((one) => /webhookconfigurations|customresourcedefinitions|secrets/.test(one)),
    `${resources}`,
  );
  const injected = { "cert-manager.io/inject-ca-from": "default/greeting-operator-certificates" };
  for (const { metadata } of [...objects.webhooks, ...objects.crds])
    assert.deepEqual({ ...metadata.annotations, ...injected }, metadata.annotations);
  const { spec } = (objects.deployment as Deployment).spec!.template;
  const [mount] = spec!.containers[0]!.volumeMounts!;
  assert.ok(spec!.containers[0]!.args!.includes(`--webhook-certificates=${mount!.mountPath}`));
  const [, certificate] = objects.certificates as [unknown, { spec: { secretName: string } }];
  assert.equal(spec!.volumes![0]!.secret!.secretName, certificate.spec.secretName);
  const files = manifestFiles([greetingOperator], { ...options, webhookCa: "cert-manager" });
  assert.match(files.get("greeting-operator/kustomization.yaml")!, /- certificates\.yaml\n- webhooks\.yaml/);
});

test("with --namespaced, every operator has Roles in these namespaces and its own, and nothing of the whole cluster", () => {
  const namespaced = ["team-a", "team-b"];
  for (const operator of operators) {
    const objects = operatorObjects(operator, { ...options, namespaced });
    const all = [...objects.roles, ...objects.classicRoles];
    assert.deepEqual(
      new Set(all.map(({ kind, metadata }) => `${kind} ${metadata.namespace}`)),
      new Set(["default", ...namespaced].flatMap((one) => [`Role ${one}`, `RoleBinding ${one}`])),
      operator.name,
    );
    assert.deepEqual(objects.webhooks, [], "nobody could set the CA of its webhooks");
    for (const { spec } of objects.crds) assert.equal(spec.conversion, undefined);
    const { args } = (objects.deployment as Deployment).spec!.template.spec!.containers[0]!;
    assert.ok(args!.includes("--namespaced=team-a,team-b") && args!.includes("--webhooks=off"), operator.name);
    const files = manifestFiles([operator], { ...options, namespaced });
    // Kustomize would move all Roles to it.
    assert.doesNotMatch(files.get(`${operator.name}/kustomization.yaml`)!, /^namespace:/m);
  }
});

test("with --namespaced, webhooks need cert-manager, and are asked about these namespaces alone", () => {
  const namespaced = ["team-a"];
  const { webhooks, roles } = operatorObjects(greetingOperator, { ...options, namespaced, webhookCa: "cert-manager" });
  assert.deepEqual(webhooks[0]!.webhooks![0]!.namespaceSelector, {
    matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "In", values: namespaced }],
  });
  assert.ok(roles.every(({ metadata }) => metadata.namespace));
  assert.throws(
    () => operatorObjects(greetingOperator, { ...options, namespaced, webhookCa: "operator" }),
    /--namespaced does not give: use --webhook-ca cert-manager/,
  );
});

test("an operator runs as nobody, on a file system that it cannot write to, under its own account", () => {
  const deployment = operatorObjects(greetingOperator, options).deployment as Deployment;
  const { spec } = deployment.spec!.template;
  const [container] = spec!.containers;
  assert.equal(container!.name, "operator");
  assert.equal(deployment.spec!.template.metadata!.labels!["app"], "greeting-operator");
  assert.equal(spec!.serviceAccountName, "greeting-operator");
  assert.equal(spec!.securityContext!.runAsNonRoot, true);
  assert.equal(container!.securityContext!.readOnlyRootFilesystem, true);
  assert.ok(container!.livenessProbe && container!.readinessProbe && container!.resources?.requests);
  assert.deepEqual(
    container!.env!.find(({ name }) => name === "GREETING_WORD"),
    { name: "GREETING_WORD", value: "Hello" },
  );
});

test("settings reach the Deployment, and the roles are those that they need", () => {
  const registrar = operator({
    name: "registrar",
    description: "Registers.",
    kinds: [Greeting],
    settings: [
      { flag: "registry", env: "REGISTRY", description: "Where to register." },
      { flag: "depth", default: "1", description: "How deep." },
      { flag: "unset", description: "Never given." },
    ],
    create: ({ settings }) => {
      if (settings["depth"] === "0") throw new Error("depth must be above 0");
      const permissions = settings["registry"] ? [permission(Node, ["get"])] : [];
      const controllers = [controller(Greeting, { permissions, reconcile: () => undefined })];
      return { controllers };
    },
  });
  const objectsWith = (flags: Record<string, string>, env: Record<string, string> = {}) =>
    operatorObjects(registrar, { ...options, settings: { flags: new Map(Object.entries(flags)), env } });
  const container = ({ deployment }: ReturnType<typeof objectsWith>) =>
    (deployment as Deployment).spec!.template.spec!.containers[0]!;
  const readsNodes = ({ roles }: ReturnType<typeof objectsWith>) => JSON.stringify(roles).includes("nodes");
  const plain = objectsWith({});
  assert.equal(readsNodes(plain), false);
  assert.deepEqual(container(plain).args, ["run", "--operators=registrar", "--leader-elect"]);
  for (const set of [objectsWith({ registry: "example.com" }), objectsWith({}, { REGISTRY: "example.com" })]) {
    assert.equal(readsNodes(set), true);
    assert.deepEqual(container(set).env!.at(-1), { name: "REGISTRY", value: "example.com" });
  }
  assert.equal(container(objectsWith({ depth: "3" })).args!.at(-1), "--depth=3");
  assert.throws(() => objectsWith({ depth: "0" }), /registrar cannot be created with these settings: depth must be/);
});

test("a disruption budget lets the node of a single replica be drained, and a network policy names the ports", async () => {
  const objects = operatorObjects(greetingOperator, options);
  await using cluster = await startCluster({ nodes: [] });
  const { client } = cluster;
  const budget = await client.create(PodDisruptionBudget, objects.disruptionBudget);
  assert.deepEqual([budget.spec?.maxUnavailable, budget.spec?.minAvailable], [1, undefined]);
  const policy = await client.create(NetworkPolicy, objects.networkPolicy);
  const ports = policy.spec?.ingress?.[0]?.ports?.map(({ port }) => port);
  const { spec } = (objects.deployment as Deployment).spec!.template;
  assert.deepEqual(
    ports,
    spec!.containers[0]!.ports!.map(({ name }) => name),
  );
  assert.deepEqual(policy.spec?.policyTypes, ["Ingress", "Egress"]);
});

test("a network policy lets an operator reach name servers and the API server, and pods only where it connects to them", () => {
  const egress = (one: Parameters<typeof operatorObjects>[0], more = {}) =>
    operatorObjects(one, { ...options, ...more }).networkPolicy.spec!.egress!;
  assert.deepEqual(
    egress(greetingOperator).flatMap(({ ports = [] }) => ports.map(({ port, protocol }) => `${protocol} ${port}`)),
    ["UDP 53", "TCP 53", "TCP 443", "TCP 6443"],
  );
  assert.ok(egress(greetingOperator).every(({ to }) => to === undefined));
  const asking = { ...greetingOperator, connectsToPods: true };
  assert.deepEqual(egress(asking).at(-1), { to: [{ namespaceSelector: {} }] });
  assert.match(JSON.stringify(egress(asking, { namespaced: ["team-a"] }).at(-1)), /"values":\["team-a"\]/);
});

test("Secrets to pull the image with are in the Deployment", () => {
  const secretsOf = (imagePullSecrets: string[]) =>
    (operatorObjects(greetingOperator, { ...options, imagePullSecrets }).deployment as Deployment).spec!.template.spec!
      .imagePullSecrets;
  assert.deepEqual(secretsOf(["registry"]), [{ name: "registry" }]);
  assert.equal(secretsOf([]), undefined);
});

test("an operator whose name is no name of a folder is refused", () => {
  const misnamed = { ...greetingOperator, name: "../../evil" };
  assert.throws(
    () => manifestFiles([misnamed], options),
    /^UsageError: operator "..\/..\/evil" cannot be used as a name/,
  );
});

test("a folder that is not up to date is shown, line by line, and put right", () => {
  const folder = mkdtempSync(join(tmpdir(), "konverge-manifests-"));
  try {
    const files = manifestFiles([greetingOperator], options);
    assert.equal(writeManifests(folder, files).changed.length, files.size);
    assert.deepEqual(manifestDifferences(folder, files), []);
    const path = join(folder, "greeting-operator/deployment.yaml");
    writeFileSync(path, readFileSync(path, "utf8").replace("replicas: 1", "replicas: 7"));
    writeFileSync(join(folder, "old.yaml"), "# Written by `konverge manifests`.\n");
    const schema = files.get("greeting-operator/schemas/greeting-v1.json")!;
    writeFileSync(join(folder, "old.json"), schema);
    writeFileSync(join(folder, "mine.yaml"), "a: 1\n");
    writeFileSync(join(folder, "mine.json"), "{}\n");
    const [changed, json, left, ...more] = manifestDifferences(folder, files);
    assert.match(
      changed!,
      /^greeting-operator\/deployment\.yaml: differs\n {2}- \d+: {3}replicas: 7\n {2}\+ \d+: {3}replicas: 1$/,
    );
    assert.equal(json, "old.json: no operator has it anymore");
    assert.equal(left, "old.yaml: no operator has it anymore");
    assert.deepEqual(more, []);
    assert.deepEqual(writeManifests(folder, files), {
      changed: ["greeting-operator/deployment.yaml"],
      removed: ["old.json", "old.yaml"],
    });
    assert.equal(readFileSync(join(folder, "mine.yaml"), "utf8"), "a: 1\n");
    assert.equal(readFileSync(join(folder, "mine.json"), "utf8"), "{}\n");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("differences show what goes and what comes", () => {
  assert.deepEqual(lineDifferences("a\nb\nc", "a\nc\nd"), ["- 2: b", "+ 3: d"]);
  assert.deepEqual(lineDifferences("same", "same"), []);
});
