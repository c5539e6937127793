import assert from "node:assert/strict";
import { test } from "node:test";
import { groupKindText } from "@konverge/core";
import { loadChart } from "../../src/helm/helm-chart.ts";
import { chart, skip } from "./chart.ts";

test("kinds are those that templates name, rendered or not, and roles grant only what can be written as a rule", {
  skip,
}, () => {
  const { uses } = loadChart(
    chart({
      "values.yaml": "ingress: false\nmonitor: false\n",
      "templates/_ingress.tpl":
        '{{ define "ingress" }}apiVersion: {{ "networking.k8s.io/v1" }}\nkind: Ingress\nmetadata: {name: a}\n{{ end }}',
      "templates/ingress.yaml": '{{ if .Values.ingress }}{{ include "ingress" . }}{{ end }}',
      "templates/monitor.yaml":
        "{{ if .Values.monitor }}\napiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: a}\n{{ end }}",
      "templates/role.yaml": `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: a}
rules:
  - {apiGroups: [""], resources: [pods, pods/log], verbs: [get, use]}
  - {apiGroups: ["*"], resources: ["*"], verbs: ["*"]}
`,
      "templates/lookup.yaml": '{{ $_ := lookup "v1" "Secret" "a" "b" }}',
    }),
  );
  assert.deepEqual(uses.kinds.map(groupKindText).sort(), [
    "Ingress.networking.k8s.io",
    "Role.rbac.authorization.k8s.io",
    "ServiceMonitor.monitoring.coreos.com",
  ]);
  assert.deepEqual(uses.lookups.map(groupKindText), ["Secret"]);
  assert.deepEqual(
    uses.granted.map(({ kind, verbs, subresource }) => [kind.plural, subresource, ...verbs]),
    [
      ["pods", undefined, "get"],
      ["pods", "log", "get"],
    ],
  );
});
