import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "@konverge/core";
import { AuditLog } from "../audit/audit-log.ts";
import { ApiServer } from "../server.ts";

const REGISTRATION = "/apis/admissionregistration.k8s.io/v1";
const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }];

test("what webhooks and policies have to say about a request stands in its audit event", async () => {
  const clock = new VirtualClock();
  const lines: string[] = [];
  const audit = new AuditLog({
    policy: { rules: [{ level: "Metadata" }] },
    clock,
    sink: { write: (line) => lines.push(line) },
  });
  const server = new ApiServer({
    clock,
    audit,
    access: { tokens: [{ token: "t", user: { name: "admin", groups: ["system:masters"] } }] },
    async callWebhook(_target, review) {
      const { uid } = (review as { request: { uid: string } }).request;
      return { ...review, response: { uid, allowed: true, auditAnnotations: { checked: "yes" } } };
    },
  });
  const send = (path: string, body: object) =>
    server.guard.handle(
      {
        method: "POST",
        path,
        headers: { authorization: "Bearer t", "content-type": "application/json" },
        body: JSON.stringify(body),
      },
      { address: "127.0.0.1" },
    );
  await send(`${REGISTRATION}/validatingwebhookconfigurations`, {
    metadata: { name: "hooks" },
    webhooks: [
      {
        name: "hook.example.com",
        clientConfig: { url: "https://hook.example.com" },
        rules,
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
      },
    ],
  });
  await send(`${REGISTRATION}/validatingadmissionpolicies`, {
    metadata: { name: "policy" },
    spec: {
      matchConstraints: { resourceRules: rules },
      validations: [{ expression: "false", message: "never" }],
      auditAnnotations: [{ key: "name", valueExpression: "'named ' + object.metadata.name" }],
    },
  });
  await send(`${REGISTRATION}/validatingadmissionpolicybindings`, {
    metadata: { name: "binding" },
    spec: { policyName: "policy", validationActions: ["Audit"] },
  });
  lines.length = 0;
  const { status } = await send("/api/v1/namespaces/default/configmaps", { metadata: { name: "a" } });
  assert.equal(status, 201);
  const { annotations } = JSON.parse(lines.at(-1)!) as { annotations: Record<string, string> };
  assert.equal(annotations["hook.example.com/checked"], "yes");
  assert.equal(annotations["policy/name"], "named a");
  assert.deepEqual(JSON.parse(annotations["validation.policy.admission.k8s.io/validation_failure"]!), [
    { message: "never", policy: "policy", binding: "binding", expressionIndex: 0, validationActions: ["Audit"] },
  ]);
});
