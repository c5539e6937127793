import assert from "node:assert/strict";
import { ConfigMap, Deployment, Service } from "@konverge/kinds";
import { controller, ownedKind } from "@konverge/runtime";
import { scenario } from "./scenario.ts";
import { conditionOf, configMap, dataOf, Widget } from "./stage.ts";

const labels = { app: "web" };

const service = Service.draft({
  metadata: { name: "web" },
  spec: {
    selector: labels,
    ports: [
      { name: "http", port: 80, targetPort: "http" },
      { name: "metrics", port: 9090 },
    ],
  },
});

const deployment = Deployment.draft({
  metadata: { name: "web" },
  spec: {
    replicas: 1,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: { containers: [{ name: "main", image: "web:1", env: [{ name: "MODE", value: "fast" }] }] },
    },
  },
});

const web = () =>
  controller(Widget, { owns: [Service, Deployment], reconcile: () => ({ children: [service, deployment] }) });

scenario("a port that is edited by hand is restored, although it is another item to the server", async (s) => {
  await s.run(web());
  await s.widget("w");
  await s.settle();
  const ports = async () => (await s.user.get(Service, "default/web")).spec?.ports?.map(({ port }) => port).sort();
  await s.user.patch(Service, "default/web", { json: [{ op: "replace", path: "/spec/ports/0/port", value: 81 }] });
  await s.settle();
  assert.deepEqual(await ports(), [80, 9090]);
  assert.deepEqual(s.warnings, []);
  // A port that another client adds is theirs.
  await s.user.patch(Service, "default/web", {
    json: [{ op: "add", path: "/spec/ports/-", value: { name: "theirs", port: 7 } }],
  });
  await s.user.patch(Service, "default/web", { json: [{ op: "replace", path: "/spec/ports/1/port", value: 9091 }] });
  await s.settle();
  assert.deepEqual(await ports(), [7, 80, 9090]);
  const { metadata } = await s.user.get(Service, "default/web");
  const owners = metadata.managedFields?.filter(({ fieldsV1 }) => JSON.stringify(fieldsV1).includes('"port\\":9091'));
  assert.deepEqual(owners, []);
});

scenario("a container and a variable that another client renames do not exist twice", async (s) => {
  await s.run(web());
  await s.widget("w");
  await s.settle();
  const spec = "/spec/template/spec/containers/0";
  await s.user.patch(Deployment, "default/web", { json: [{ op: "replace", path: `${spec}/name`, value: "other" }] });
  await s.settle();
  await s.user.patch(Deployment, "default/web", {
    json: [
      { op: "replace", path: `${spec}/env/0/name`, value: "MOOD" },
      { op: "add", path: `${spec}/env/-`, value: { name: "THEIRS", value: "yes" } },
    ],
  });
  await s.settle();
  const { containers } = (await s.user.get(Deployment, "default/web")).spec!.template.spec!;
  assert.deepEqual(
    containers.map(({ name }) => name),
    ["main"],
  );
  assert.deepEqual(containers[0]!.env!.map(({ name }) => name).sort(), ["MODE", "THEIRS"]);
});

scenario("a child that lost the label by which it is watched gets it back", async (s) => {
  const draft = ConfigMap.draft({ metadata: { name: "a", labels }, data: { text: "hello" } });
  await s.run(
    controller(Widget, {
      owns: [ownedKind(ConfigMap, { labelSelector: "app=web" })],
      reconcile: () => ({ children: [draft] }),
    }),
  );
  await s.widget("w");
  await s.settle();
  await s.user.patch(ConfigMap, "default/a", {
    merge: { metadata: { labels: { app: null } }, data: { text: "spoilt" } },
  });
  await s.settle();
  assert.deepEqual((await s.user.get(ConfigMap, "default/a")).metadata.labels, labels);
  assert.deepEqual(await dataOf(s.user, "default/a"), { text: "hello" });
  assert.deepEqual(s.warnings, []);
});

scenario("a child without the labels by which it would be watched is not made", async (s) => {
  await s.run(
    controller(Widget, {
      owns: [ownedKind(ConfigMap, { labelSelector: "app=web" })],
      reconcile: () => ({ children: [configMap("a", {})] }),
    }),
  );
  await s.widget("w");
  await s.settle();
  assert.equal(conditionOf(await s.user.get(Widget, "default/w"), "Ready"), "False InvalidChild");
  assert.equal(await s.exists(ConfigMap, "default/a"), false);
});

scenario("a choice that another client changes is restored, and what came with the change is removed", async (s) => {
  const recreated = Deployment.draft({ ...deployment, spec: { ...deployment.spec, strategy: { type: "Recreate" } } });
  await s.run(controller(Widget, { owns: [Deployment], reconcile: () => ({ children: [recreated] }) }));
  await s.widget("w");
  await s.settle();
  // The server then fills in rollingUpdate, which may not be there beside Recreate.
  await s.user.patch(Deployment, "default/web", { merge: { spec: { strategy: { type: "RollingUpdate" } } } });
  await s.settle();
  assert.deepEqual((await s.user.get(Deployment, "default/web")).spec?.strategy, { type: "Recreate" });
  assert.deepEqual(s.warnings, []);
  s.writes();
  await s.user.patch(Deployment, "default/web", { merge: { metadata: { annotations: { seen: "yes" } } } });
  await s.settle();
  assert.deepEqual(s.writes(), []);
});
