import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { permissionText } from "@konverge/runtime";
import { parseScenario } from "../black-box/scenario-file.ts";
import { checkRole } from "./check-role.ts";
import { exploreRole } from "./explore-role.ts";
import { learnRole, ScenarioFailed } from "./learn-role.ts";
import { learnedRoleText, roleCheckLines } from "./role-text.ts";
import { readShippedRole, ShippedRoleError } from "./shipped-role.ts";

const program = join(import.meta.dirname, "../../test/black-box-program.mjs");
const scenario = parseScenario(`
name: two children
steps:
- apply:
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: web, labels: {parent: "yes"}}
- wait: {for: configmap/web-second, expression: "object.kind == 'ConfigMap'", timeout: 5s}
`);
const options = {
  command: `exec '${process.execPath}' '${program}' correct`,
  scenarios: [scenario],
  idleAfter: 700,
};

test("the least role of a program is what its requests need, and suffices", async () => {
  const learned = await learnRole({ ...options, name: "twins" });
  assert.equal(learned.suffices, true);
  assert.equal(learned.runs, 2);
  assert.deepEqual(learned.permissions.map(({ permission }) => permissionText(permission)).sort(), [
    "create configmaps in namespace default",
    "watch configmaps in namespace default",
  ]);
  const text = learnedRoleText(learned);
  assert.match(text, /^# create configmaps: POST \/api\/v1\/namespaces\/default\/configmaps$/m);
  assert.match(text, /kind: Role\n[\s\S]*verbs:\n *- watch\n *- create\n[\s\S]*kind: RoleBinding/);
  const failing = { ...options, command: "exec false", idleTimeout: 3_000 };
  await assert.rejects(learnRole(failing), ScenarioFailed);
});

test("a role that is published is too narrow where a request is refused, and too wide where no request needs it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "konverge-role-"));
  try {
    const file = join(folder, "role.yaml");
    writeFileSync(file, ROLE);
    const check = await checkRole(readShippedRole([file], "default"), options);
    const lines = roleCheckLines(check);
    assert.deepEqual(lines.slice(0, 8), [
      "too narrow: create configmaps in namespace default is used, but not granted",
      "  POST /api/v1/namespaces/default/configmaps",
      "too wide: ClusterRole twins, rule 1 grants what no scenario needs",
      "  configmaps: delete",
      "too wide: ClusterRole twins, rule 2 grants what no scenario needs",
      "  secrets: * (none is needed)",
      "too wide: ClusterRole twins, rule 3 grants what no scenario needs",
      "  gateways.example.com: * (the scenarios' cluster does not serve it)",
    ]);
    assert.match(lines[8]!, /^two children: fails under this role: /);
    assert.match(lines[9]!, /^ {2}refused \d+ times: create configmaps in namespace default$/);
    const results = await exploreRole(check.learned, options);
    assert.deepEqual(
      results.map(({ without, outcome }) => [without, outcome]),
      [[["watch configmaps in namespace default", "create configmaps in namespace default"], "exits"]],
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("files without roles, templates, and bindings of several accounts are refused with what to do", () => {
  const folder = mkdtempSync(join(tmpdir(), "konverge-role-"));
  const refused = (text: string, message: RegExp) => {
    const file = join(folder, "role.yaml");
    writeFileSync(file, text);
    assert.throws(
      () => readShippedRole([file], "default"),
      (error: unknown) => {
        assert.ok(error instanceof ShippedRoleError);
        assert.match(error.message, message);
        return true;
      },
    );
  };
  try {
    refused("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", /^there is no ClusterRole and no Role in /);
    refused("kind: ClusterRole\nmetadata:\n  name: {{ .Release.Name }}\n", /is a template of a chart: render it first/);
    refused(
      `${ROLE.replace("subjects:", "subjects:\n- {kind: ServiceAccount, name: other, namespace: b}")}`,
      /^the roles are bound to b\/other and twins-system\/twins: name one with --service-account NAMESPACE\/NAME$/,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const ROLE = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: twins}
rules:
- apiGroups: [""]
  resources: [configmaps, configmaps/finalizers]
  verbs: [watch, delete]
- apiGroups: [""]
  resources: [secrets]
  verbs: ["*"]
- apiGroups: [example.com]
  resources: [gateways]
  verbs: ["*"]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: twins, namespace: twins-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: twins}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: twins}
subjects:
- {kind: ServiceAccount, name: twins, namespace: twins-system}
`;
