import assert from "node:assert/strict";
import { Certificate, Database, databaseOperator } from "@konverge/database-operator";
import { installForeignKind, type Scenario, supplyVolumes } from "@konverge/operator-suite";
import { ConfigMap, Secret, StatefulSet } from "konverge/kinds";
import { running, sample } from "./scenarios.ts";

const NAME = "postgres-orders-certificate";
const encode = (text: string) => Buffer.from(text).toString("base64");

/** cert-manager issues the certificate of the servers, once it is installed; what it is not needed for any more is deleted. */
export const issued: Scenario = async (stage) => {
  await supplyVolumes(stage, "20Gi");
  await stage.start(databaseOperator);
  const both = `${sample("database")}  tls: {secretName: mine, issuerRef: {name: company}}\n`;
  await assert.rejects(stage.apply(both), /spec\.tls: .*secretName, issuerRef: set at most one of them/);
  await stage.apply(`${sample("database")}  tls: {required: true, issuerRef: {name: company, kind: ClusterIssuer}}\n`);
  const isReady = async () => stage.condition(Database, "postgres-orders", "Ready");
  await stage.until("it misses cert-manager", async () => (await isReady()) === "False CertManagerMissing");

  await installForeignKind(stage, Certificate);
  await stage.until("it waits for cert-manager", async () => (await isReady()) === "False CertificatePending", 120_000);
  const { metadata, spec } = await stage.get(Certificate, NAME);
  assert.equal(metadata.ownerReferences?.[0]?.kind, "Database");
  assert.deepEqual(spec.issuerRef, { name: "company", kind: "ClusterIssuer", group: "cert-manager.io" });
  assert.equal(spec.secretName, NAME);
  const domain = `${stage.namespace}.svc`;
  for (const host of [
    `postgres-orders.${domain}`,
    `postgres-orders-rw.${domain}`,
    `*.postgres-orders-pods.${domain}`,
  ]) {
    assert.ok(spec.dnsNames.includes(host), host);
  }
  assert.ok(!(await stage.find(Secret, "postgres-orders-tls")), "there is no authority of the operator");

  // What cert-manager does.
  await stage.client.create(Secret, {
    metadata: { name: NAME, namespace: stage.namespace },
    type: "kubernetes.io/tls",
    data: { "tls.crt": encode("certificate"), "tls.key": encode("key"), "ca.crt": encode("authority") },
  });
  const condition = { type: "Ready", status: "True", reason: "Ready" } as const;
  await stage.client.patch(Certificate, `${stage.namespace}/${NAME}`, {
    merge: { status: { conditions: [condition] } },
  });
  await running(stage, "postgres-orders");
  assert.equal((await stage.get(Database, "postgres-orders")).status?.certificateName, NAME);
  const { volumes } = (await stage.get(StatefulSet, "postgres-orders")).spec!.template.spec!;
  assert.equal(volumes!.find((one) => one.name === "tls")?.secret?.secretName, NAME);
  await stage.until("clients find the authority", async () => {
    return (await stage.find(ConfigMap, "postgres-orders-ca"))?.data?.["ca.crt"] === "authority";
  });

  // An edit is undone with the next reconcile; without the issuer it goes.
  await stage.client.patch(Certificate, `${stage.namespace}/${NAME}`, { merge: { spec: { dnsNames: [] } } });
  await stage.apply(`${sample("database")}  tls: {required: true, issuerRef: {name: other, kind: ClusterIssuer}}\n`);
  await stage.until("it names the other issuer", async () => {
    const { spec } = await stage.get(Certificate, NAME);
    return spec.issuerRef.name === "other" && spec.dnsNames.length > 5;
  });
  await stage.apply(`${sample("database")}  tls: {required: true}\n`);
  await stage.until("the Certificate goes", async () => !(await stage.find(Certificate, NAME)));
  await stage.until("the operator's own takes its place", async () => {
    return (await stage.get(Database, "postgres-orders")).status?.certificateName === undefined;
  });
};
