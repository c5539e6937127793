import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap, Secret } from "@konverge/kinds";
import { kudoCluster, packageFolder } from "./kudo-cluster.ts";

const PARAMS = "apiVersion: kudo.dev/v1beta1\nparameters:\n  - {name: SIZE, default: 1}\n";
const plans = (tasks: readonly string[]) => `
plans:
  deploy:
    strategy: serial
    phases: [{name: main, strategy: serial, steps: [${tasks.map((name) => `{name: ${name}, tasks: [${name}]}`).join(", ")}]}]
`;

const CHILD = {
  "operator.yaml": `name: child\noperatorVersion: 0.1.0\ntasks: [{name: note, kind: Apply, spec: {resources: [note.yaml]}}]${plans(["note"])}`,
  "params.yaml": "parameters: [{name: TEXT, default: none}]\n",
  "templates/note.yaml":
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Name }}-note'}\ndata: {text: {{ .Params.TEXT | quote }}}\n",
};

test("a KudoOperator task makes an instance of another package with parameters from a template", async () => {
  using child = packageFolder(CHILD);
  using parent = packageFolder({
    "operator.yaml": `name: parent\noperatorVersion: 0.1.0\ntasks: [{name: child, kind: KudoOperator, spec: {package: child, operatorVersion: 0.1.0, parameterFile: child.yaml}}]${plans(["child"])}`,
    "params.yaml": PARAMS,
    "templates/child.yaml": "TEXT: size {{ .Params.SIZE }}\n",
  });
  await using kudo = await kudoCluster();
  await kudo.version(child.path);
  await kudo.install("shop", await kudo.version(parent.path));
  assert.equal(await kudo.plan("shop", "deploy"), "COMPLETE: child COMPLETE");
  assert.equal(await kudo.plan("shop-child", "deploy"), "COMPLETE: note COMPLETE");
  assert.equal((await kudo.client.get(ConfigMap, "default/shop-child-note")).data?.["text"], "size 1");
  await kudo.change("shop", { parameters: { SIZE: "2" } });
  assert.equal((await kudo.client.get(ConfigMap, "default/shop-child-note")).data?.["text"], "size 2");
});

test("packages that install each other are refused", async () => {
  const task = "[{name: me, kind: KudoOperator, spec: {package: loop, operatorVersion: 0.1.0, instanceName: other}}]";
  using loop = packageFolder({
    "operator.yaml": `name: loop\noperatorVersion: 0.1.0\ntasks: ${task}${plans(["me"])}`,
    "params.yaml": PARAMS,
  });
  await using kudo = await kudoCluster();
  await kudo.install("shop", await kudo.version(loop.path));
  assert.match(
    await kudo.condition("shop", "Ready"),
    /^Unknown PlanInFatalError: cyclic package dependency found: loop-0.1.0 -> loop-0.1.0/,
  );
});

test("a pipe task keeps the files of its pod in a Secret whose name templates have", async () => {
  using pipe = packageFolder({
    "operator.yaml": `
name: pipe
operatorVersion: 0.1.0
tasks:
  - {name: make, kind: Pipe, spec: {pod: pod.yaml, pipe: [{file: /tmp/token, kind: Secret, key: token}]}}
  - {name: note, kind: Apply, spec: {resources: [note.yaml]}}
${plans(["make", "note"])}`,
    "params.yaml": PARAMS,
    "templates/pod.yaml": `
apiVersion: v1
kind: Pod
metadata: {name: any}
spec:
  volumes: [{name: shared, emptyDir: {}}]
  initContainers:
    - {name: init, image: maker, volumeMounts: [{name: shared, mountPath: /tmp}]}
`,
    "templates/note.yaml":
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: note}\ndata: {secret: {{ .Pipes.token }}}\n",
  });
  await using kudo = await kudoCluster();
  kudo.cluster.image("busybox", {
    exec: async ({ command, stdout }) => {
      stdout(command.join(" ") === "cat /tmp/token" ? "t0ken" : "something else");
      return 0;
    },
  });
  await kudo.install("shop", await kudo.version(pipe.path));
  assert.equal(await kudo.plan("shop", "deploy"), "COMPLETE: make COMPLETE, note COMPLETE");
  const name = (await kudo.client.get(ConfigMap, "default/note")).data?.["secret"];
  assert.equal(name, "shop.deploy.main.make.make.token");
  const { data } = await kudo.client.get(Secret, `default/${name}`);
  assert.equal(Buffer.from(data?.["token"] ?? "", "base64").toString(), "t0ken");
});

test("what the API server refuses is reported with its task, without a write storm", async () => {
  using wrong = packageFolder({
    ...CHILD,
    "templates/note.yaml":
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Name }}-note'}\ndata: {'no key!': a}\n",
  });
  await using kudo = await kudoCluster();
  await kudo.install("shop", await kudo.version(wrong.path));
  assert.match(await kudo.condition("shop", "Degraded"), /^True TaskError: deploy.main.note.note: .*no key!/s);
  const { metadata } = await kudo.read("shop");
  await kudo.cluster.settled();
  assert.equal((await kudo.read("shop")).metadata.resourceVersion, metadata.resourceVersion);
  await kudo.delete("shop");
});
