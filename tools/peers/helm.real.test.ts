import assert from "node:assert/strict";
import { join } from "node:path";
import { isNotFound, type KindRef, type KubeObject } from "@konverge/core";
import { ConfigMap, Deployment, Job, Secret, Service, ServiceAccount } from "@konverge/kinds";
import { helm } from "./catalogue.ts";
import { onBothServers, type Scene } from "./on-both-servers.ts";

const chart = join(import.meta.dirname, "helm-chart");
const Stall: KindRef = {
  group: "peers.example.com",
  version: "v1",
  kind: "Stall",
  plural: "stalls",
  namespaced: true,
};

onBothServers(helm, {
  "Helm installs, tests, upgrades, rolls back and uninstalls a chart with hooks": async (scene) => {
    const { stage } = scene;
    const { client, until } = stage;
    const namespace = "market";
    const run = helmIn(scene, namespace);
    const deployment = () => client.get(Deployment, `${namespace}/kiosk`);
    const settings = async () => (await client.get(ConfigMap, `${namespace}/kiosk`)).data;
    const exists = <T extends KubeObject>(kind: KindRef<T>, name: string) =>
      client.get(kind, `${namespace}/${name}`).then(
        () => true,
        (error: unknown) => {
          if (isNotFound(error)) return false;
          throw error;
        },
      );
    const hookArguments = async (hook: string) =>
      (await client.get(Job, `${namespace}/kiosk-${hook}`)).spec?.template.spec?.containers[0]?.args;

    const installed = await run("install", "kiosk", chart, "--create-namespace", "--wait");
    assert.match(installed, /STATUS: deployed\nREVISION: 1/);
    assert.match(installed, /1 kiosk\(s\), fresh every day\./);
    assert.equal((await deployment()).status?.readyReplicas, 1);
    assert.equal((await settings())?.["motto"], "fresh every day");
    assert.ok(await exists(Stall, "kiosk"), "the chart's own kind is there before its objects");
    assert.deepEqual(await hookArguments("pre-install"), ["pre-install", "1"]);
    const before = (await deployment()).metadata.creationTimestamp!;
    const job = await client.get(Job, `${namespace}/kiosk-pre-install`);
    assert.ok((job.status?.completionTime ?? "never") <= before, "the hook was done before anything else was created");

    assert.match(await run("test", "kiosk"), /Phase: {10}Succeeded/);
    assert.match(await run("upgrade", "kiosk", chart, "--dry-run=server"), /namespaceFound: "market"/);
    // What is only in the cluster survives an upgrade, what the chart has is put right.
    await client.patch(Deployment, `${namespace}/kiosk`, {
      merge: { metadata: { annotations: { mine: "yes" } }, spec: { replicas: 5 } },
    });
    const upgraded = await run("upgrade", "kiosk", chart, "--set", "replicas=2,motto=half price,extra=false", "--wait");
    assert.match(upgraded, /REVISION: 2/);
    const second = await deployment();
    assert.deepEqual([second.spec?.replicas, second.metadata.annotations?.["mine"]], [2, "yes"]);
    assert.equal((await settings())?.["namespaceFound"], namespace);
    assert.equal(await exists(ServiceAccount, "kiosk-extra"), false, "what the chart no longer has is removed");
    assert.deepEqual(await hookArguments("post-upgrade"), ["post-upgrade", "2"]);

    await assert.rejects(
      run("upgrade", "kiosk", chart, "--set", "port=99999", "--atomic"),
      /99999.*between 1 and 65535/s,
    );
    assert.equal((await client.get(Service, `${namespace}/kiosk`)).spec?.ports?.[0]?.port, 80);
    await run("rollback", "kiosk", "1", "--wait");
    assert.equal((await deployment()).spec?.replicas, 1);
    assert.equal((await settings())?.["motto"], "fresh every day");
    assert.ok(await exists(ServiceAccount, "kiosk-extra"));
    const history = JSON.parse(await run("history", "kiosk", "-o", "json")) as { status: string }[];
    assert.deepEqual(
      history.map(({ status }) => status),
      ["superseded", "superseded", "failed", "superseded", "deployed"],
    );
    assert.match(await run("list"), /^kiosk\s+market\s+5\s/m);

    assert.match(await run("uninstall", "kiosk", "--wait"), /release "kiosk" uninstalled/);
    await until("the workload is gone", async () => !(await exists(Deployment, "kiosk")));
    await until("the hook is gone", async () => !(await exists(Job, "kiosk-pre-delete")));
    assert.ok(await exists(Secret, "kiosk-kept"), "what is to be kept is kept");
    const releases = (await client.list(Secret, { namespace })).items.filter(
      ({ type }) => type === "helm.sh/release.v1",
    );
    assert.deepEqual(releases, []);
  },
});

function helmIn({ stage, peer }: Scene, namespace: string): (...args: string[]) => Promise<string> {
  return async (...args) => {
    const program = stage.run(peer.program, [...args, "--namespace", namespace]);
    const code = await program.ended;
    if (code !== 0) throw new Error(`helm ${args.join(" ")} ended with ${code}: ${program.output}`);
    return program.output;
  };
}
