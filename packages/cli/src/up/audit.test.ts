import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { connect } from "@konverge/client";
import { realClock } from "@konverge/core";
import { ConfigMap, Secret } from "@konverge/kinds";
import { openAudit } from "./audit.ts";
import { up } from "./up.ts";

let folder: string;
const homeBefore = process.env["KONVERGE_HOME"];
before(() => {
  folder = mkdtempSync(join(tmpdir(), "konverge-audit-"));
  process.env["KONVERGE_HOME"] = folder;
});
after(() => {
  rmSync(folder, { recursive: true, force: true });
  if (homeBefore === undefined) delete process.env["KONVERGE_HOME"];
  else process.env["KONVERGE_HOME"] = homeBefore;
});

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const POLICY = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
    resources: [{ group: "", resources: [secrets] }]
  - level: RequestResponse
    verbs: [create]
    resources: [{ group: "", resources: [configmaps] }]
  - level: None
`;

interface AuditLine {
  apiVersion: string;
  kind: string;
  level: string;
  stage: string;
  verb: string;
  user: { username: string };
  objectRef: { resource: string; namespace: string; name: string };
  requestObject?: { data?: Record<string, string> };
  responseObject?: { metadata: { uid?: string } };
  responseStatus: { code: number };
}

test("konverge up logs requests by an audit policy, appending to the log of earlier runs", async () => {
  const auditLogPath = join(folder, "audit.log");
  const options = {
    ...{ name: "audited", port: 0, host: "127.0.0.1", kubeconfig: join(folder, "kubeconfig") },
    ...{ nodes: 0, gpus: "none", timeScale: 1, operators: "none" },
    ...{ auditPolicyFile: file("policy.yaml", POLICY), auditLogPath },
  };
  for (const name of ["first", "second"]) {
    const started = await up(options);
    {
      await using client = await connect({ kubeconfig: started.noted.kubeconfig });
      await client.create(ConfigMap, { metadata: { name }, data: { color: "blue" } });
      await client.create(Secret, { metadata: { name }, stringData: { password: "hidden" } });
      await client.get(ConfigMap, name);
    }
    await started.stop();
  }
  const text = readFileSync(auditLogPath, "utf8");
  assert.ok(!text.includes("hidden") && !text.includes(Buffer.from("hidden").toString("base64")));
  const events = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as AuditLine);
  const shown = events.map(({ level, verb, objectRef: { resource, name } }) => [level, verb, resource, name].join(" "));
  assert.deepEqual(shown, [
    "RequestResponse create configmaps first",
    "Metadata create secrets first",
    "RequestResponse create configmaps second",
    "Metadata create secrets second",
  ]);
  const [created] = events;
  assert.deepEqual(
    [created?.kind, created?.apiVersion, created?.stage],
    ["Event", "audit.k8s.io/v1", "ResponseComplete"],
  );
  assert.deepEqual(created?.requestObject?.data, { color: "blue" });
  assert.ok(created?.responseObject?.metadata.uid);
  assert.equal(created?.responseStatus.code, 201);
  assert.equal(statSync(auditLogPath).mode & 0o777, 0o600);
});

test("audit options that cannot be used are refused before anything starts", async () => {
  const clock = realClock();
  const open = (auditPolicyFile: string | undefined, auditLogPath: string | undefined) =>
    openAudit({ ...(auditPolicyFile && { auditPolicyFile }), ...(auditLogPath && { auditLogPath }) }, clock);
  const policy = file("good.yaml", POLICY);
  assert.equal(await open(undefined, undefined), undefined);
  await assert.rejects(open(undefined, "-"), /add --audit-policy-file/);
  await assert.rejects(open(policy, undefined), /add --audit-log-path/);
  await assert.rejects(open(join(folder, "none.yaml"), "-"), /none\.yaml cannot be used: ENOENT/);
  const wrong = file("wrong.yaml", "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Everything }]\n");
  await assert.rejects(open(wrong, "-"), /rules\[0\]\.level: "Everything" is none of None, Metadata/);
  await assert.rejects(open(policy, join(folder, "no", "audit.log")), /audit\.log cannot be written: ENOENT/);
});
