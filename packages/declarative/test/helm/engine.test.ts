import assert from "node:assert/strict";
import { test } from "node:test";
import { HelmEngine, lookupText, RenderError, templateText } from "@konverge/declarative/helm-engine";
import { chart, engine, request, skip } from "./chart.ts";

const CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-config\n";

test("a chart is rendered with Helm's functions, subcharts, files and notes", { skip }, () => {
  const rendered = engine.render(
    request(
      chart({
        "values.yaml": "greeting: hello\nlists: {b: 2, a: 1}\ndb: {size: 1}\n",
        "motd.txt": "welcome",
        "templates/_name.tpl": '{{ define "web.name" }}{{ .Release.Name | upper }}{{ end }}',
        "templates/config.yaml": `${CONFIG}data:
  greeting: {{ tpl "{{ .Values.greeting | quote }}" . }}
  name: {{ include "web.name" . }}
  motd: {{ .Files.Get "motd.txt" }}
  keys: "{{ range $key, $value := .Values.lists }}{{ $key }}{{ $value }}{{ end }}"
`,
        "templates/NOTES.txt": "Thank you for {{ .Chart.Name }} {{ .Chart.AppVersion }}",
        "charts/db/Chart.yaml": "apiVersion: v2\nname: db\nversion: 1.0.0\n",
        "charts/db/values.yaml": "size: 5\n",
        "charts/db/templates/db.yaml": `${CONFIG}data: {size: "{{ .Values.size }}"}\n`.replace("config", "db"),
      }),
      { values: { greeting: "hi", db: { size: 2_000_000 } } },
    ),
  );
  const data = (path: string) =>
    (rendered.manifests.find((one) => one.path === path)!.objects[0] as unknown as { data: object }).data;
  assert.deepEqual(data("web/templates/config.yaml"), { greeting: "hi", name: "SHOP", motd: "welcome", keys: "a1b2" });
  assert.deepEqual(data("web/charts/db/templates/db.yaml"), { size: "2000000" });
  assert.equal(rendered.notes, "Thank you for web 9.9.9");
  assert.match(templateText(rendered), /^---\n# Source: web\/charts\/db\/templates\/db.yaml\n/);
});

test("an error says chart, file, line and value", { skip }, () => {
  const source = chart({
    "templates/config.yaml": `${CONFIG}data:\n  size: {{ required "set size" .Values.size }}\n`,
  });
  assert.throws(() => engine.render(request(source)), /web\/templates\/config.yaml:6:\d+[\s\S]*set size/);
  const wrong = chart({ "templates/config.yaml": `${CONFIG}data:\n  a: {{ .Values.a.b.c }}\n` });
  assert.throws(
    () => engine.render(request(wrong, { values: { a: 1 } })),
    /web\/templates\/config.yaml:6:[\s\S]*\.Values\.a\.b/,
  );
});

test("values that do not fit the chart's schema are refused with their place", { skip }, () => {
  const source = chart({
    "values.schema.json": JSON.stringify({ properties: { size: { type: "integer", minimum: 1 } } }),
    "templates/config.yaml": CONFIG,
  });
  assert.throws(() => engine.render(request(source, { values: { size: 0 } })), /\/size.*minimum|at '\/size'/);
});

test("a template without an end is ended, and the next one is rendered", { skip, timeout: 120_000 }, () => {
  const endless = chart({
    "templates/config.yaml": `${CONFIG}data: {{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}\n`,
  });
  const short = new HelmEngine({ timeMs: 1_000 });
  assert.throws(() => short.render(request(endless)), /takes longer than 1 s and was ended/);
  assert.equal(short.render(request(chart({ "templates/config.yaml": CONFIG }))).manifests.length, 1);
});

test("a template cannot take more memory than there is for it", { skip, timeout: 120_000 }, () => {
  const large = chart({
    "templates/config.yaml": `${CONFIG}data: {{ repeat 1000000000 "x" }}\n`,
  });
  const small = new HelmEngine({ memoryBytes: 128 * 2 ** 20, timeMs: 20_000 });
  assert.throws(() => small.render(request(large)), /out of memory|cannot allocate/);
  assert.equal(small.render(request(chart({ "templates/config.yaml": CONFIG }))).manifests.length, 1);
});

test("random values and the time depend on the request alone", { skip }, () => {
  const source = chart({
    "templates/config.yaml": `${CONFIG}data:\n  password: {{ randAlphaNum 20 }}\n  at: {{ now | date "2006-01-02" | quote }}\n`,
  });
  const text = (seed: string) => {
    const rendered = new HelmEngine().render(request(source, { seed }));
    assert.equal(rendered.usedRandom, true);
    return templateText(rendered);
  };
  assert.equal(text("one"), text("one"));
  assert.notEqual(text("one"), text("two"));
  assert.match(text("one"), /at: "2026-01-01"/);
  assert.equal(engine.render(request(chart({ "templates/config.yaml": CONFIG }))).usedRandom, false);
});

test("lookups are returned until they have a result", { skip }, () => {
  const source = chart({
    "templates/config.yaml": `${CONFIG}data:
  {{- $secret := lookup "v1" "Secret" .Release.Namespace "known" }}
  found: {{ dig "data" "token" "nothing" $secret }}
`,
  });
  const first = engine.render(request(source));
  assert.match(templateText(first), /found: nothing/);
  const asked = { apiVersion: "v1", kind: "Secret", namespace: "default", name: "known" };
  assert.deepEqual(first.missing, [asked]);
  const lookups = new Map([[lookupText(asked), { object: { data: { token: "abc" } } }]]);
  const second = engine.render(request(source, { lookups }));
  assert.deepEqual(second.missing, []);
  assert.match(templateText(second), /found: abc/);
  const failed = new Map([[lookupText(asked), { error: "secrets is forbidden" }]]);
  assert.throws(() => engine.render(request(source, { lookups: failed })), /secrets is forbidden/);
});

test("hooks come with their events, weights and delete policies", { skip }, () => {
  const annotations = "  annotations:\n    helm.sh/hook: pre-install,pre-upgrade\n    helm.sh/hook-weight: '-5'\n";
  const { hooks, manifests } = engine.render(
    request(
      chart({ "templates/hook.yaml": `${CONFIG}${annotations}    helm.sh/hook-delete-policy: hook-succeeded\n` }),
    ),
  );
  assert.deepEqual(manifests, []);
  assert.deepEqual(
    hooks.map(({ events, weight, deletePolicies }) => ({ events, weight, deletePolicies })),
    [{ events: ["pre-install", "pre-upgrade"], weight: -5, deletePolicies: ["hook-succeeded"] }],
  );
});

test("overrides are set above all values, and may be templates", { skip }, () => {
  const source = chart({ "templates/config.yaml": `${CONFIG}data: {image: {{ .Values.image.tag }}}\n` });
  const values = { image: { tag: "1" } };
  const overrides = { "image.tag": '{{ "v2" | upper }}' };
  assert.match(templateText(engine.render(request(source, { values, overrides }))), /image: V2/);
});

test("a chart that is not one is refused", { skip }, () => {
  const nameless = chart({ "Chart.yaml": "apiVersion: v2\nversion: 1.0.0\n" });
  assert.throws(() => engine.render(request(nameless)), RenderError);
});
