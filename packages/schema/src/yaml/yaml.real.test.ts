import assert from "node:assert/strict";
import { test } from "node:test";
import { parseJson, stringifyJson } from "@konverge/core";
import { findControlPlane } from "@konverge/real";
import { RealServer } from "../../test/real-server.ts";
import { SCALARS, VALUES } from "../../test/yaml-samples.ts";
import type { CrdObject } from "../kind/crd-object.ts";
import { parseYaml } from "./parse-yaml.ts";
import { printYaml } from "./print-yaml.ts";

const plane = findControlPlane();
const COLLECTION = "/apis/yaml.example.com/v1/samples";

const CRD: CrdObject = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "samples.yaml.example.com" },
  spec: {
    group: "yaml.example.com",
    names: { kind: "Sample", plural: "samples" },
    scope: "Cluster",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: "object", properties: { spec: { "x-kubernetes-preserve-unknown-fields": true } } },
        },
      },
    ],
  },
};

test("kube-apiserver reads and writes YAML as we do", { skip: plane.available ? false : plane.why }, async () => {
  await using server = await RealServer.start();
  await server.establish(CRD);
  const header = "apiVersion: yaml.example.com/v1\nkind: Sample\nmetadata:\n  name: a\n";

  for (const text of Object.keys(SCALARS)) {
    const yaml = `${header}spec:\n  a: ${text}\n`;
    const { status, text: answer } = await server.askText(
      "POST",
      `${COLLECTION}?dryRun=All`,
      { "content-type": "application/yaml" },
      yaml,
    );
    assert.equal(status, 201, `${text}: ${answer}`);
    const spec = (parseYaml(yaml)[0] as { spec: unknown }).spec;
    assert.deepEqual((parseJson(answer) as { spec: unknown }).spec, spec, text);
  }
  for (const value of VALUES) {
    const object = { apiVersion: "yaml.example.com/v1", kind: "Sample", metadata: { name: "a" }, spec: { value } };
    const headers = { "content-type": "application/json", accept: "application/yaml" };
    const { text } = await server.askText("POST", `${COLLECTION}?dryRun=All`, headers, stringifyJson(object));
    assert.equal(printYaml(parseYaml(text)[0]), text);
    assert.deepEqual((parseYaml(text)[0] as { spec: unknown }).spec, { value });
  }
});
