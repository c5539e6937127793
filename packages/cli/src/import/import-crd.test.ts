import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { CustomResourceDefinition } from "@konverge/kinds";
import { crdsFromYaml } from "@konverge/schema";
import { commandStage } from "../../test/command-stage.ts";
import { type ProjectStage, projectStage } from "../../test/project-stage.ts";
import { importCrds } from "./import-crd.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

/** A CRD as controller-gen writes one, with what Zod has words for and with what it has none for. */
const widgets = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: widgets.example.com }
spec:
  group: example.com
  names: { kind: Widget, listKind: WidgetList, plural: widgets, singular: widget, shortNames: [wd] }
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: { status: {}, scale: { specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas } }
    additionalPrinterColumns:
    - { name: Replicas, type: integer, jsonPath: .spec.replicas }
    - { name: Age, type: date, jsonPath: .metadata.creationTimestamp }
    schema:
      openAPIV3Schema:
        type: object
        description: A widget.
        required: [spec]
        properties:
          apiVersion: { type: string }
          kind: { type: string }
          metadata: { type: object }
          spec:
            type: object
            required: [size, mode]
            x-kubernetes-validations:
            - { rule: "self.replicas <= 10 || self.mode == 'Fast'", message: only Fast ones scale }
            properties:
              replicas: { type: integer, format: int32, minimum: 0, maximum: 100, default: 1 }
              size: { type: integer, format: int64, exclusiveMinimum: true, minimum: 0, multipleOf: 2 }
              mode: { type: string, enum: [Fast, Slow], description: How it works. }
              host: { type: string, pattern: "^[a-z]+(/[a-z]+)*$", maxLength: 63, nullable: true }
              until: { type: string, format: date-time }
              memory:
                anyOf: [{ type: integer }, { type: string }]
                pattern: ^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$
                x-kubernetes-int-or-string: true
              port: { anyOf: [{ type: integer }, { type: string }], x-kubernetes-int-or-string: true }
              ports:
                type: array
                maxItems: 8
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: { type: object, required: [name], properties: { name: { type: string }, port: { type: integer } } }
              labels: { type: object, maxProperties: 5, additionalProperties: { type: string } }
              template: { type: object, x-kubernetes-preserve-unknown-fields: true }
              limits: { type: object, default: {}, properties: { cpu: { type: integer, default: 2 } } }
              source:
                type: object
                oneOf: [{ required: [git] }, { required: [http] }]
                properties: { git: { type: string }, http: { type: string } }
          status:
            type: object
            properties:
              replicas: { type: integer }
              observedGeneration: { type: integer, format: int64 }
              conditions:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [type]
                items:
                  type: object
                  required: [lastTransitionTime, message, reason, status, type]
                  properties:
                    lastTransitionTime: { type: string, format: date-time }
                    message: { type: string }
                    observedGeneration: { type: integer, format: int64 }
                    reason: { type: string }
                    status: { type: string }
                    type: { type: string }
`;

function widgetsFile(project: ProjectStage): string {
  project.write("widgets.yaml", widgets);
  return join(project.folder, "widgets.yaml");
}

test("a definition from a CRD means the same; what is written otherwise is said", async () => {
  using project = projectStage();
  project.lines.length = 0;
  await importCrds(widgetsFile(project), {}, project.folder, project.tell);
  const [written, raw, pattern, next] = project.lines;
  assert.equal(written, "src/widget.ts written");
  assert.equal(raw, "  v1 spec.source is written with rawSchema: oneOf has no equal in Zod");
  assert.match(pattern!, /^ {2}v1 spec\.memory: pattern is /);
  assert.match(next!, /If this operator installs Widget, add it to kinds/);
  const text = project.read("src/widget.ts");
  assert.match(text, /replicas: z\.int32\(\)\.min\(0\)\.max\(100\)\.default\(1\),/);
  assert.match(text, /size: z\.int\(\)\.gt\(0\)\.multipleOf\(2\),/);
  assert.match(text, /mode: z\.enum\(\["Fast", "Slow"\]\)\.describe\("How it works\."\),/);
  assert.match(text, /rules: \[\n {8}cel\("self\.replicas <= 10/);

  project.write("src/widget.ts", `${text}// mine\n`);
  await assert.rejects(
    importCrds(widgetsFile(project), {}, project.folder, project.tell),
    /src\/widget\.ts exists, and is not overwritten/,
  );
  assert.match(project.read("src/widget.ts"), /mine/);
});

test("the definitions of all of Konverge's operators are read back from their CRDs as they are, and type-check", async () => {
  using project = projectStage();
  const files = globSync("config/*-operator/crds/*.*.yaml", { cwd: ROOT }).map((file) => join(ROOT, file));
  assert.ok(files.length >= 10, String(files.length));
  await importCrds(widgetsFile(project), {}, project.folder, project.tell);
  project.lines.length = 0;
  for (const file of files) await importCrds(file, {}, project.folder, project.tell);
  const said = project.lines.filter((line) => /^ {2}/.test(line) && !/rawSchema|conversion of/.test(line));
  assert.deepEqual(said, []);
  project.check();
});

test("a CRD of a cluster is imported by its name", async () => {
  using project = projectStage();
  await using stage = await commandStage({ nodes: [] });
  await stage.client.create(CustomResourceDefinition, crdsFromYaml(widgets)[0] as never);
  const options = { kubeconfig: stage.kubeconfig, fromCluster: "widgets.example.com", folder: "kinds" };
  await importCrds(undefined, options, project.folder, project.tell);
  assert.match(project.read("kinds/widget.ts"), /export const Widget = defineKind/);
});

test("what is no CRD, is not there or is named twice is an error that says what to do", async () => {
  using project = projectStage();
  await using stage = await commandStage({ nodes: [] });
  const { kubeconfig } = stage;
  const run = (file: string | undefined, more: object = {}) =>
    importCrds(file, { kubeconfig, ...more }, project.folder, project.tell);
  await assert.rejects(run(undefined), /either a file with CRDs or, with --from-cluster/);
  await assert.rejects(run(join(project.folder, "package.json")), /no CustomResourceDefinition .* in .*package\.json/);
  await assert.rejects(run("/nowhere.yaml"), /cannot be read/);
  await assert.rejects(
    run(undefined, { fromCluster: "a.b.c" }),
    /the cluster has no CRD a\.b\.c: its name is PLURAL\.GROUP/,
  );
});
