import assert from "node:assert/strict";
import { test } from "node:test";
import { operators } from "@konverge/operators";
import { operator } from "@konverge/runtime";
import { parseYaml } from "@konverge/schema";
import { greetingOperator } from "../../test/greeting-operator.ts";
import { DEFAULT_IMAGE } from "../manifests/defaults.ts";
import { chartFiles } from "./chart-files.ts";
import { HelmTemplate } from "./template.ts";
import { imageParts } from "./values.ts";

const options = { image: "registry.example.com:5000/greet:v1", version: "1.2.3" };

test("the same operators give the same charts, with values that say what they are for", () => {
  const files = chartFiles([greetingOperator], options);
  assert.deepEqual([...chartFiles([greetingOperator], options)], [...files]);
  const [values] = parseYaml(files.get("greeting-operator/values.yaml")!) as [Record<string, object>];
  assert.deepEqual(values["settings"], { word: "Hello" });
  assert.match(files.get("greeting-operator/values.yaml")!, /\n {2}# How to greet\.\n {2}word: Hello\n/);
  const [chart] = parseYaml(files.get("greeting-operator/Chart.yaml")!) as [Record<string, string>];
  assert.deepEqual([chart["version"], chart["appVersion"]], ["1.2.3", "v1"]);
  const schema = JSON.parse(files.get("greeting-operator/values.schema.json")!) as { properties: object };
  assert.deepEqual(Object.keys(schema.properties).sort(), ["global", ...Object.keys(values)].sort());
});

test("what is not for Helm to fill in is literal", () => {
  const template = new HelmTemplate();
  const namespace = template.value(".Release.Namespace");
  assert.equal(
    template.print({ a: "{{ not mine }}", b: `x.${namespace}.svc`, c: template.block(".Values.c") }),
    "a: '{{ \"{{\" }} not mine }}'\nb: x.{{ .Release.Namespace }}.svc\n{{- with .Values.c }}\nc:\n  {{- toYaml . | nindent 2 }}\n{{- end }}\n",
  );
});

test("a setting that is a flag is quoted and left out when it is not set", () => {
  const deep = operator({
    ...greetingOperator,
    name: "deep",
    settings: [
      { flag: "depth", description: "How deep." },
      { flag: "log-level", env: "LOG_LEVEL", default: "warn", description: "The log." },
    ],
  });
  const files = chartFiles([deep], options);
  const deployment = files.get("deep/templates/deployment.yaml")!;
  assert.match(
    deployment,
    /\{\{- if not \(kindIs "invalid" \(index \.Values\.settings "depth"\)\) \}\}\n {8}- \{\{ printf "--depth=%s"/,
  );
  assert.match(
    deployment,
    /- name: LOG_LEVEL\n {10}value: \{\{ include "deep\.text" \(index \.Values\.settings "log-level"\)/,
  );
  assert.doesNotMatch(files.get("deep/values.yaml")!, /logLevel/);
});

test("users add variables, volumes and annotations to what the operator has", () => {
  const deployment = (webhookCa: "cert-manager" | "operator") =>
    chartFiles([greetingOperator], { ...options, webhookCa }).get("greeting-operator/templates/deployment.yaml")!;
  const plain = deployment("operator");
  const certified = deployment("cert-manager");
  assert.match(
    certified,
    /\n {6}volumes:\n {6}- name: [\s\S]*\{\{- with \.Values\.extraVolumes \}\}\n\{\{- toYaml \. \| nindent 6 \}\}/,
  );
  assert.match(certified, /\n {8}volumeMounts:\n {8}- mountPath: [\s\S]*\{\{- toYaml \. \| nindent 8 \}\}/);
  assert.match(
    plain,
    /fieldPath: metadata\.namespace\n[\s\S]*\{\{- with \.Values\.extraEnv \}\}\n\{\{- toYaml \. \| nindent 8 \}\}/,
  );
  assert.match(plain, /\{\{- with \.Values\.extraVolumes \}\}\n {6}volumes:\n/);
  assert.match(plain, /\{\{- with \.Values\.extraVolumeMounts \}\}\n {8}volumeMounts:\n/);
  assert.match(plain, /\nmetadata:\n\{\{- with \.Values\.annotations \}\}\n {2}annotations:\n/);
});

test("every operator of Konverge has a chart, and none of its files has a word that was to be replaced", () => {
  for (const [path, text] of chartFiles(operators, { ...options, image: DEFAULT_IMAGE }))
    assert.doesNotMatch(text, /KONVERGE\d+HOLE/, path);
});

test("names of images are taken apart", () => {
  assert.deepEqual(imageParts("localhost:5000/a/b"), { repository: "localhost:5000/a/b", tag: "", digest: "" });
  assert.deepEqual(imageParts("a:v1@sha256:00"), { repository: "a", tag: "v1", digest: "sha256:00" });
});
