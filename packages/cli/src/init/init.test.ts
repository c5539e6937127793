import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { apiList } from "./api-list.ts";
import { createApi } from "./create-api.ts";
import { init } from "./init.ts";
import { apiOf, fileName, operatorConstant } from "./names.ts";
import { LIBRARIES } from "./packages.ts";

/** A folder with tarballs that have the right names, and one for projects. */
function folders() {
  const folder = mkdtempSync(join(tmpdir(), "konverge-init-"));
  for (const name of ["konverge", "konverge-dev", "konverge-operators"]) {
    writeFileSync(join(folder, `${name}-0.1.0.tgz`), name);
  }
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}

function started(folder: string, name = "cache-operator", path?: string, kind: string | false = "Cache") {
  const lines: string[] = [];
  const tell = (text: string) => void lines.push(text);
  const first = { domain: "example.com", group: "", version: "v1alpha1", kind };
  const project = join(folder, name);
  init(project, { ...first, packages: folder, install: false, path, ownVersion: "0.1.0", tell });
  const read = (path: string) => readFileSync(join(project, path), "utf8");
  return { project, lines, tell, read };
}

test("a project has what one works with, and brings the packages that it was given", () => {
  using place = folders();
  const { read } = started(place.folder);
  const manifest = JSON.parse(read("package.json"));
  assert.deepEqual(Object.keys(manifest.scripts), ["start", "dev", "check", "test"]);
  assert.equal(manifest.dependencies.konverge, "file:vendor/konverge-0.1.0.tgz");
  assert.deepEqual(Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }).sort(), [
    "@konverge/dev",
    "@types/node",
    "konverge",
    "typescript",
  ]);
  assert.equal(read("vendor/konverge-dev-0.1.0.tgz"), "konverge-dev");
  assert.match(read("src/operator.ts"), /export const cacheOperator = operator\(\{\n {2}name: "cache-operator"/);
  for (const target of "test manifests install uninstall run docker-build docker-push deploy undeploy".split(" ")) {
    assert.match(read("Makefile"), new RegExp(`^${target}: ## .+\\n\\t\\S`, "m"));
  }
  assert.match(read("Dockerfile"), /^COPY vendor vendor$[\s\S]*distroless[\s\S]*^USER 65532:65532$/m);
});

test("a project begins without a kind, and the first is added like every other", () => {
  using place = folders();
  const { project, lines, tell, read } = started(place.folder, "empty-operator", undefined, false);
  assert.deepEqual(Object.keys(JSON.parse(read("package.json")).scripts), ["dev", "check", "test"]);
  assert.deepEqual(readdirSync(join(project, "src")).sort(), ["apis.ts", "operator.test.ts", "operator.ts"]);
  assert.equal(existsSync(join(project, "samples")), false);
  assert.match(
    read("src/apis.ts"),
    /^export const kinds: AnyKind\[\] = \[\];\nexport const controllers: Controller\[\] = /m,
  );
  assert.doesNotMatch(read("README.md"), /npm start|undefined/);
  assert.match(lines.join("\n"), /npx konverge create api --group GROUP/);
  createApi({ group: "", version: "v1", kind: "Cache" }, project, tell);
  assert.equal(read("src/apis.ts"), apiList({ kinds: ["Cache"], admissions: [] }));
  assert.throws(
    () => init(join(place.folder, "both"), { ...EMPTY, packages: place.folder, kind: false, helm: "chart" }),
    /--no-kind and --helm exclude each other/,
  );
});

const EMPTY = {
  ...{ domain: "example.com", group: "", version: "v1", install: false, path: undefined, ownVersion: "0.1.0" },
  tell: () => {},
};

test("a project brings the Node that it needs if the one on the PATH is too old", () => {
  using place = folders();
  const node = (version: string, ...folder: string[]) => {
    const bin = join(place.folder, ...folder);
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "node"), `#!/bin/sh\necho v${version}\n`, { mode: 0o755 });
    return bin;
  };
  // Npx looks into the packages of a project first.
  const brought = node("24.2.0", "node_modules", ".bin");
  const old = started(place.folder, "old-operator", [brought, node("20.11.1", "old")].join(delimiter));
  const manifest = JSON.parse(old.read("package.json"));
  assert.equal(manifest.devDependencies.node, "^24");
  assert.match(old.lines.join("\n"), /The node on your PATH is Node 20, and a project needs Node 24 or newer: /);
  const recent = started(place.folder, "recent-operator", node("25.0.0", "recent"));
  assert.equal(JSON.parse(recent.read("package.json")).devDependencies.node, undefined);
  assert.doesNotMatch(recent.lines.join("\n"), /PATH/);
});

test("a project is made of a chart, a folder or a packed one", () => {
  using place = folders();
  writeFileSync(join(place.folder, "konverge-declarative-0.1.0.tgz"), "");
  const chart = join(place.folder, "kube-web");
  mkdirSync(join(chart, "templates"), { recursive: true });
  writeFileSync(join(chart, "Chart.yaml"), "apiVersion: v2\nname: kube-web\nversion: 1.0.0\n");
  execFileSync("tar", ["-czf", "kube-web-1.0.0.tgz", "kube-web"], { cwd: place.folder });
  const made = (name: string, helm: string) => {
    const options = { domain: "example.com", group: "", version: "v1alpha1", packages: place.folder, install: false };
    init(join(place.folder, name), { ...options, helm, path: undefined, ownVersion: "0.1.0", tell: () => {} });
    return (path: string) => readFileSync(join(place.folder, name, path), "utf8");
  };
  const read = made("folder-operator", chart);
  assert.match(
    read("src/operator.ts"),
    /folderOperator = helmOperator\(\{[\s\S]*"\.\.\/charts\/kube-web"[\s\S]*kind: "KubeWeb"/,
  );
  assert.equal(
    JSON.parse(read("package.json")).dependencies["@konverge/declarative"],
    "file:vendor/konverge-declarative-0.1.0.tgz",
  );
  assert.match(read("charts/kube-web/Chart.yaml"), /name: kube-web/);
  assert.match(read("samples/kube-web.yaml"), /^apiVersion: example.com\/v1alpha1\nkind: KubeWeb\n/);
  assert.match(read("Dockerfile"), /^COPY charts charts$/m);
  assert.match(
    made("packed-operator", `${chart}-1.0.0.tgz`)("src/operator.ts"),
    /"\.\.\/charts\/kube-web-1\.0\.0\.tgz"/,
  );
  assert.throws(() => made("no-operator", place.folder), /is not a chart: it has no Chart.yaml with a name/);
  assert.throws(() => made("none-operator", join(place.folder, "absent")), /there is no such chart/);
});

test("a folder with something in it stays as it is", () => {
  using place = folders();
  started(place.folder);
  assert.throws(() => started(place.folder), /cache-operator is not empty: .* npx konverge create api/);
});

test("an API is added beside what is there, twice is once, and what a person changed is kept", () => {
  using place = folders();
  const { project, lines, tell, read } = started(place.folder);
  const job = { group: "ml", version: "v1alpha1", kind: "TrainingJob" };
  createApi(job, join(project, "src"), tell);
  assert.match(read("src/training-job.ts"), /group: "ml\.example\.com"/);
  assert.equal(read("src/apis.ts"), apiList({ kinds: ["Cache", "TrainingJob"], admissions: [] }));
  lines.length = 0;
  createApi(job, project, tell);
  assert.ok(
    lines.every((line) => line.endsWith(" unchanged")),
    lines.join("\n"),
  );

  writeFileSync(join(project, "src/training-job.ts"), "// mine\n");
  const list = `${read("src/apis.ts")}// mine\n`;
  writeFileSync(join(project, "src/apis.ts"), list);
  lines.length = 0;
  createApi(job, project, tell);
  createApi({ ...job, kind: "Dataset" }, project, tell);
  assert.equal(read("src/training-job.ts"), "// mine\n");
  assert.equal(read("src/apis.ts"), list);
  assert.ok(lines.includes("src/training-job.ts kept: it exists, and is not overwritten"));
  assert.match(
    lines.at(-1)!,
    /^src\/apis\.ts kept: .* Import \.\/dataset\.ts there, and add Dataset to kinds and datasetController to controllers/,
  );
});

test("names that cannot work are refused, with what can", () => {
  const job = { group: "ml", version: "v1", kind: "Job" };
  assert.throws(() => apiOf({ ...job, kind: "trainingJob" }, "example.com"), /singular noun in CamelCase/);
  assert.throws(
    () => apiOf({ ...job, kind: "Operator" }, "example.com"),
    /would overwrite src\/operator\.ts, a file of the project/,
  );
  assert.throws(() => apiOf({ ...job, version: "1.0" }, "example.com"), /use v1alpha1, v1beta1, v1/);
  assert.throws(() => apiOf({ ...job, group: "ML.x" }, "example.com"), /use a domain/);
  using place = folders();
  assert.throws(
    () => started(place.folder, "Cache"),
    /"Cache" is not the name of a project: .* such as cache-operator/,
  );
  assert.throws(() => createApi(job, place.folder, () => {}), /npx konverge init NAME/);
  assert.deepEqual(["HTTPRoute", "TrainingJob", "V2Ray"].map(fileName), ["http-route", "training-job", "v2-ray"]);
  assert.deepEqual(["a-b-operator", "cache", "operator"].map(operatorConstant), [
    "aBOperator",
    "cacheOperator",
    "myOperator",
  ]);
});

test("the libraries of a new project are those that Konverge is tested with", () => {
  const manifest = (path: string) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
  const { devDependencies } = manifest("../../../../package.json");
  assert.deepEqual(LIBRARIES, {
    typescript: `^${devDependencies.typescript}`,
    nodeTypes: `^${devDependencies["@types/node"]}`,
  });
});
