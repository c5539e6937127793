import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createAuthority, saveSnapshot } from "@konverge/apiserver";
import type { Client } from "@konverge/client";
import { type Cluster, startCluster } from "@konverge/cluster";
import { type AnyObject, type KindRef, type KubeObject, realClock } from "@konverge/core";
import { CustomResourceDefinition, Deployment, Node, Pod, Secret, StatefulSet } from "@konverge/kinds";
import { defineKind, parseYaml, z } from "@konverge/schema";
import { kindsToRead } from "./kinds-to-read.ts";
import { Placeholders } from "./placeholders.ts";
import { readLiveState } from "./read-live-state.ts";
import { readerRole } from "./reader-role.ts";

const folder = mkdtempSync(join(tmpdir(), "konverge-live-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const Note = defineKind({
  group: "test.example.com",
  kind: "Note",
  versions: { v1: { spec: z.object({ text: z.string() }), status: z.object({ read: z.boolean().optional() }) } },
});
const PASSWORD = "correct-horse-Battery9";
/** The password of the Secret that the StatefulSet uses. */
const VALUE = `${PASSWORD}-database`;
const permissions = [
  { group: "test.example.com", resource: "notes" },
  { group: "apps", resource: "statefulsets/status" },
];

/** A cluster with a StatefulSet whose pods use a Secret, and with objects that do not concern it. */
async function live(): Promise<Cluster> {
  const cluster = await startCluster();
  const { client } = cluster;
  await client.create(CustomResourceDefinition, Note.crd());
  const note = await client.create(
    Note,
    Note.new({ metadata: { name: "a", namespace: "default" }, spec: { text: "b" } }),
  );
  await client.update(Note, { ...note, status: { read: true } }, { subresource: "status" });
  for (const name of ["database", "unrelated"]) {
    const metadata = { name, namespace: "default" };
    await client.create(Secret, { metadata, stringData: { password: `${PASSWORD}-${name}`, port: "5432" } });
  }
  const env = [
    { name: "PASSWORD", valueFrom: { secretKeyRef: { name: "database", key: "password" } } },
    { name: "URL", value: `postgres://app:${VALUE}@db/app` },
  ];
  await client.create(StatefulSet, {
    metadata: { name: "db", namespace: "default" },
    spec: {
      replicas: 2,
      serviceName: "db",
      selector: { matchLabels: { app: "db" } },
      template: {
        metadata: { labels: { app: "db" } },
        spec: { containers: [{ name: "db", image: "example.com/db", env }] },
      },
      volumeClaimTemplates: [
        {
          metadata: { name: "data" },
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
        },
      ],
    },
  });
  await client.create(Deployment, {
    metadata: { name: "other", namespace: "default" },
    spec: {
      selector: { matchLabels: { app: "other" } },
      template: {
        metadata: { labels: { app: "other" } },
        spec: { containers: [{ name: "a", image: "example.com/a" }] },
      },
    },
  });
  await cluster.settled({ idlePeriod: 300 });
  return cluster;
}

async function saved(client: Client): Promise<{ file: string; objects: Readonly<Record<string, number>> }> {
  const { resources } = await client.mapper.refresh();
  const { state, objects } = await readLiveState(client, kindsToRead(permissions, resources));
  const file = join(folder, `${randomBytes(4).toString("hex")}.snapshot`);
  saveSnapshot(file, state);
  return { file, objects };
}

test("a cluster begins with the objects of a live one as they are, and its controllers have nothing to do", async () => {
  await using cluster = await live();
  const { client } = cluster;
  const { file, objects } = await saved(client);
  assert.equal(objects["pods"], 2);
  assert.equal(objects["persistentvolumeclaims"], 2);
  assert.equal(objects["deployments.apps"], undefined);
  await using copy = await startCluster({ from: file });
  await copy.settled({ idlePeriod: 500 });
  for (const [kind, key] of [
    [Note, "default/a"],
    [StatefulSet, "default/db"],
    [Pod, "default/db-0"],
  ] as [KindRef<KubeObject>, string][]) {
    const [original, copied] = [await client.get(kind, key), await copy.client.get(kind, key)];
    const expected = JSON.stringify(original).replaceAll(VALUE, new Placeholders().of(VALUE));
    assert.deepEqual(copied, JSON.parse(expected));
  }
  const nodes = async (one: Client) => (await one.list(Node)).items.map(({ metadata }) => metadata.name);
  assert.deepEqual(await nodes(copy.client), await nodes(client));
});

test("no value of a Secret is in the file, wherever the cluster repeats it, and keys and lengths are", async () => {
  await using cluster = await live();
  const { file } = await saved(cluster.client);
  const text = readFileSync(file, "utf8");
  for (const secret of [PASSWORD, Buffer.from(VALUE).toString("base64")]) {
    assert.ok(!text.includes(secret), secret);
  }
  await using copy = await startCluster({ from: file });
  const { data } = await copy.client.get(Secret, "default/database");
  const [password, port] = [data!["password"]!, data!["port"]!].map((one) => Buffer.from(one, "base64").toString());
  assert.equal(password!.length, VALUE.length);
  assert.equal(port, "0000");
  await assert.rejects(copy.client.get(Secret, "default/unrelated"), /not found/);
});

test("the printed role suffices to read the snapshot, and each of its rules is needed", async () => {
  await using cluster = await live();
  const { client } = cluster;
  const { resources } = await client.mapper.refresh();
  const kinds = kindsToRead(permissions, resources);
  const [account, role, binding] = parseYaml(readerRole(kinds)) as [
    AnyObject,
    AnyObject & { rules: { apiGroups: string[]; resources: string[]; verbs: string[] }[] },
    AnyObject,
  ];
  const reader = client.as({
    user: "system:serviceaccount:default:konverge-snapshot",
    groups: ["system:serviceaccounts", "system:authenticated"],
  });
  await assert.rejects(readLiveState(reader, kinds), /forbidden/);
  for (const object of [account, role, binding]) {
    await client.create(await client.mapper.resolve(object as { apiVersion: string; kind: string }), object as never);
  }
  assert.deepEqual([...new Set(role.rules.flatMap(({ verbs }) => verbs))], ["list"]);
  const { objects, requests } = await readLiveState(reader, kinds);
  assert.equal(objects["statefulsets.apps"], 1);
  assert.equal(requests, kinds.length);
  assert.equal(role.rules.flatMap(({ resources: names }) => names).length, kinds.length);
});

test("placeholders keep the shape of what they replace", () => {
  const placeholders = new Placeholders();
  assert.equal(placeholders.of("Ab1-c\nd2"), "Xx0xx\nx0");
  assert.equal(
    placeholders.of("postgres://app:secret@db.example.com:5432/x"),
    "postgres://xxx:xxxxxx@xx.xxxxxxx.xxx:0000/x",
  );
  const { cert, key } = createAuthority(realClock()).server("a", ["a.example.com"]);
  const both = placeholders.of(`${cert}${key}`);
  assert.match(both, /^-----BEGIN CERTIFICATE-----\n/);
  assert.ok(!both.includes(cert.split("\n")[1]!) && !both.includes(key.split("\n")[1]!));
});

test("a Secret's last applied configuration is left out, and a ConfigMap that repeats its value has the placeholder", () => {
  const placeholders = new Placeholders();
  const secret = placeholders.secret({
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: "a",
      namespace: "b",
      annotations: { "kubectl.kubernetes.io/last-applied-configuration": PASSWORD },
    },
    data: { token: Buffer.from(PASSWORD).toString("base64") },
  } as AnyObject);
  assert.deepEqual(secret.metadata.annotations, {});
  const map = placeholders.object({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: PASSWORD },
    data: { line: `token=${PASSWORD};` },
  } as AnyObject);
  assert.deepEqual(map["data"], { line: "token=xxxxxxxxxxxxxxXxxxxxx0;" });
});
