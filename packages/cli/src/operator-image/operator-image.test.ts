import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { AdjustableClock } from "@konverge/cluster";
import { realClock } from "@konverge/core";
import { ClusterRole, ConfigMap, Deployment, Lease, Namespace, Pod, Role } from "@konverge/kinds";
import { type CommandStage, commandStage, until } from "../../test/command-stage.ts";
import { Greeting, greetingOperator } from "../../test/greeting-operator.ts";
import { deploy, undeploy } from "../deploy/deploy.ts";
import { uninstall } from "../deploy/uninstall.ts";
import { DEFAULT_IMAGE, DEFAULT_NAMESPACE } from "../manifests/defaults.ts";
import { operatorCatalog } from "./catalog.ts";
import { OPERATOR_IMAGE, operatorProgram } from "./operator-image.ts";

const catalog = await operatorCatalog({
  modules: [fileURLToPath(new URL("../../test/greeting-operator.ts", import.meta.url))],
});
const options = { namespace: DEFAULT_NAMESPACE, image: DEFAULT_IMAGE, tell: () => {} };

/** Time passes faster here, as leases and probes go by seconds, and it is a month later than outside. */
async function stageWithImage(): Promise<CommandStage> {
  const outside = realClock();
  const later = { ...outside, now: () => outside.now() + 30 * 86_400_000 };
  const stage = await commandStage({ clock: new AdjustableClock(later, 5) });
  const { cluster } = stage;
  cluster.image(OPERATOR_IMAGE, { run: operatorProgram(catalog, { clock: cluster.clock, timeScale: 5 }) });
  return stage;
}

async function logOf({ client }: CommandStage): Promise<string> {
  const { items } = await client.list(Pod, { namespace: "default", labelSelector: "app=greeting-operator" });
  let text = "";
  for (const { metadata } of items) {
    for await (const line of client.logs(`default/${metadata.name}`)) text += `${line}\n`;
  }
  return text;
}

test("a deployed operator really runs in the embedded cluster: its role, its webhooks, its log, its probes", async () => {
  await using stage = await stageWithImage();
  const { client } = stage;
  await deploy([greetingOperator], client, options);
  const nobody = Greeting.new({ metadata: { name: "n", namespace: "default" }, spec: { to: "nobody" } });
  await assert.rejects(client.create(Greeting, nobody), /Invalid value: "nobody": must be somebody/);
  await client.create(Greeting.new({ metadata: { name: "one", namespace: "default" }, spec: { to: "you" } }));
  await until("it is greeted", async () => {
    const { metadata, data } = await client.get(ConfigMap, "default/one");
    assert.equal(metadata.ownerReferences?.[0]?.kind, "Greeting");
    return data?.["said"] === "Hello, you";
  });
  const older = await client.get(Greeting.atVersion("v1alpha1"), "default/one");
  assert.equal(older.spec.whom, "you");
  await until("the log tells of it", async () => /"object":"default\/one".*reconcile done/.test(await logOf(stage)));
  assert.match(await logOf(stage), /"at work"|leads/);

  // As `kubectl set env` does it: the Deployment rolls, and the next pod takes over.
  await client.patch(Deployment, "default/greeting-operator", {
    strategic: {
      spec: {
        template: { spec: { containers: [{ name: "operator", env: [{ name: "GREETING_WORD", value: "Salut" }] }] } },
      },
    } as never,
  });
  await until("the next one greets in its way", async () => {
    return (await client.get(ConfigMap, "default/one")).data?.["said"] === "Salut, you";
  });
  const { spec } = await client.get(Lease, "default/greeting-operator");
  const pod = await client.get(Pod, `default/${spec?.holderIdentity}`);
  assert.equal(pod.metadata.labels?.["app"], "greeting-operator");

  // Objects are converted on their way out, while the server is busy with the definition.
  await uninstall([greetingOperator], client, { ...options, force: true });
  await undeploy([greetingOperator], client, options);
  await until("its pods are gone", async () => {
    const { items } = await client.list(Pod, { namespace: "default", labelSelector: "app=greeting-operator" });
    return items.length === 0;
  });
});

test("an operator that is deployed for single namespaces works there with Roles alone, and nowhere else", async () => {
  await using stage = await stageWithImage();
  const { client } = stage;
  for (const name of ["team", "others"]) await client.create(Namespace, { metadata: { name } });
  const namespaced = { ...options, namespaced: ["team"] };
  await deploy([greetingOperator], client, namespaced);
  const hello = (namespace: string) =>
    client.create(Greeting.new({ metadata: { name: "hello", namespace }, spec: { to: "you" } }));
  await hello("others");
  await hello("team");
  await until("it is greeted", async () => {
    return (await client.get(ConfigMap, "team/hello")).data?.["said"] === "Hello, you";
  });
  await assert.rejects(client.get(ConfigMap, "others/hello"), /not found/);
  await assert.rejects(client.get(ClusterRole, "greeting-operator"), /not found/);
  assert.doesNotMatch(await logOf(stage), /forbidden/);
  await undeploy([greetingOperator], client, namespaced);
  await assert.rejects(client.get(Role, "team/greeting-operator"), /not found/);
});

test("an operator whose role is taken away does not start, and its log names the missing rule", async () => {
  await using stage = await stageWithImage();
  const { client } = stage;
  await deploy([greetingOperator], client, options);
  await client.delete(Role, "default/greeting-operator");
  const { items } = await client.list(Pod, { namespace: "default", labelSelector: "app=greeting-operator" });
  await client.delete(Pod, `default/${items[0]!.metadata.name}`);
  await until("the next one says what it may not do", async () =>
    /greeting-operator is not allowed to:[\s\S]*create leases\.coordination\.k8s\.io in namespace default/.test(
      await logOf(stage),
    ),
  );
  await until("it is started again and again, with ever longer waits", async () => {
    const list = await client.list(Pod, { namespace: "default", labelSelector: "app=greeting-operator" });
    return list.items.some(({ status }) => {
      const container = status?.containerStatuses?.[0];
      return (
        container?.state?.waiting?.reason === "CrashLoopBackOff" && container.lastState?.terminated?.exitCode === 1
      );
    });
  });
});
