import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type ApiRequest, VirtualClock } from "@konverge/core";
import { findControlPlane, type RealCluster, startRealCluster } from "@konverge/real";
import { type Answer, askReal } from "../../test/ask-real.ts";
import { emptyStore } from "../../test/role-store.ts";
import { AccessControl } from "../auth/access-control.ts";
import { ensureDefaultRoles } from "../auth/rbac/default-roles.ts";
import { Guard } from "../guard.ts";
import { AuditLog } from "./audit-log.ts";
import type { AuditEvent } from "./event.ts";
import type { AuditPolicy } from "./policy.ts";

const plane = findControlPlane();
const policy: AuditPolicy = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitManagedFields: true,
  rules: [
    { level: "None", users: ["system:apiserver"] },
    { level: "None", nonResourceURLs: ["/readyz"] },
    { level: "Metadata", resources: [{ group: "", resources: ["secrets"] }] },
    { level: "Request", resources: [{ group: "", resources: ["serviceaccounts"] }] },
    { level: "RequestResponse" },
  ],
};

describe("the audit log of a real server", { skip: plane.available ? false : plane.why }, () => {
  let cluster: RealCluster;
  let logFile: string;
  const folder = mkdtempSync(join(tmpdir(), "konverge-audit-"));
  before(async () => {
    logFile = join(folder, "audit.log");
    const policyFile = join(folder, "policy.json");
    writeFileSync(policyFile, JSON.stringify(policy));
    const extraApiServerFlags = [`--audit-log-path=${logFile}`, `--audit-policy-file=${policyFile}`];
    cluster = await startRealCluster({ extraApiServerFlags });
  });
  after(async () => {
    await cluster?.stop();
    rmSync(folder, { recursive: true });
  });

  test("has the same events for the same requests and answers", async () => {
    const home = "/api/v1/namespaces/default";
    const requests: Omit<ApiRequest, "headers">[] = [
      {
        method: "POST",
        path: `${home}/configmaps`,
        body: '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x"},"data":{"a":"b"}}',
      },
      {
        method: "POST",
        path: `${home}/secrets`,
        body: '{"kind":"Secret","apiVersion":"v1","metadata":{"name":"s"},"data":{}}',
      },
      {
        method: "POST",
        path: `${home}/serviceaccounts`,
        body: '{"kind":"ServiceAccount","apiVersion":"v1","metadata":{"name":"robot"}}',
      },
      { method: "GET", path: `${home}/secrets/s` },
      { method: "GET", path: `${home}/configmaps/none` },
      { method: "GET", path: `${home}/configmaps?fieldSelector=metadata.name%3Dx` },
      { method: "DELETE", path: `${home}/serviceaccounts/robot` },
      { method: "GET", path: "/apis/apps" },
      { method: "GET", path: "/version" },
    ];
    const as: Record<string, string | string[]>[] = [
      {},
      { "impersonate-user": "jane", "impersonate-group": ["devs"] },
      { "impersonate-user": "system:anonymous" },
      { authorization: "Bearer wrong" },
    ];
    const answers: { request: ApiRequest; answer: Answer }[] = [];
    for (const who of as) {
      for (const each of requests) {
        const id = `id-${answers.length}`;
        const headers = { "user-agent": "test/1", "audit-id": id, "content-type": "application/json", ...who };
        const body = each.body === undefined ? undefined : (JSON.parse(String(each.body)) as object);
        const answer = await askReal(cluster, each.method, each.path, { headers, body });
        answers.push({ request: { ...each, headers }, answer });
      }
    }
    const real = await realEvents(answers.length);
    const ours = await ourEvents(answers);
    for (const { request } of answers) {
      const id = request.headers["audit-id"];
      const of = (events: AuditEvent[]) => events.filter(({ auditID }) => auditID === id).map(comparable);
      assert.deepEqual(of(ours), of(real), `${id} ${request.method} ${request.path}`);
    }
  });

  /** The log is written in the background: wait for the last request's last event. */
  async function realEvents(requests: number): Promise<AuditEvent[]> {
    for (;;) {
      const lines = readFileSync(logFile, "utf8").trim().split("\n");
      const events = lines.map((line) => JSON.parse(line) as AuditEvent);
      if (events.some(({ auditID, stage }) => auditID === `id-${requests - 1}` && stage !== "RequestReceived"))
        return events;
      await sleep(100);
    }
  }

  /** Our guard and log, in front of a server that gives the answers of the real one. */
  async function ourEvents(answers: { request: ApiRequest; answer: Answer }[]): Promise<AuditEvent[]> {
    const { store, clock } = emptyStore();
    ensureDefaultRoles(store, clock);
    const user = { name: "admin", uid: "admin", groups: ["system:masters"] };
    const access = new AccessControl({ store, clock, tokens: [{ token: "admin", user }] });
    const events: AuditEvent[] = [];
    const sink = { write: (line: string) => events.push(JSON.parse(line) as AuditEvent) };
    const audit = new AuditLog({ policy, sink, clock: new VirtualClock() });
    for (const { request, answer } of answers) {
      const guard = new Guard({
        access,
        audit,
        answer: async () => ({
          status: answer.status,
          headers: { "content-type": "application/json" },
          body: JSON.stringify(answer.body),
        }),
      });
      const headers = { authorization: "Bearer admin", ...request.headers };
      const response = await guard.handle({ ...request, headers }, { address: "127.0.0.1" });
      assert.equal(response.status, answer.status);
    }
    return events;
  }
});

function comparable(event: AuditEvent): object {
  const { requestReceivedTimestamp: _, stageTimestamp: __, ...rest } = event;
  // Which of several bindings allows it is a matter of chance in a real server.
  return JSON.parse(JSON.stringify(rest).replace(/RBAC: allowed by [^}]*/, 'allowed"')) as object;
}
