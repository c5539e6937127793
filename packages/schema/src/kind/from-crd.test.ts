import assert from "node:assert/strict";
import { test } from "node:test";
import { Database, LLMModel } from "../../test/corpus/operators.ts";
import { Evolving } from "../../test/corpus/surfaces.ts";
import { printYaml } from "../yaml/print-yaml.ts";
import { crdsFromYaml, fromCRD } from "./from-crd.ts";
import { typesFromCRD } from "./types-from-crd.ts";

const CRON_TAB = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: crontabs.stable.example.com
spec:
  group: stable.example.com
  names: { plural: crontabs, singular: crontab, kind: CronTab, shortNames: [ct] }
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        description: Runs something now and then.
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [cronSpec]
            properties:
              cronSpec: { type: string, pattern: '^\\S+ \\S+$', description: "When: minute and hour. Not */ five" }
              replicas: { type: integer, default: 1, maximum: 5 }
              mode: { type: string, enum: [fast, slow], nullable: true }
              "odd-name": { x-kubernetes-int-or-string: true }
              tags: { type: array, items: { type: string, enum: [a, b] } }
              steps:
                description: |-
                  What to do,
                  in order.
                type: array
                items: { type: object, properties: { run: { type: string } }, required: [run] }
              env: { type: object, additionalProperties: { type: string } }
              extra: { type: object, x-kubernetes-preserve-unknown-fields: true }
          status: { type: object, properties: { ready: { type: boolean } } }
    subresources: { status: {} }
`;

test("a kind can be created from another operator's CRD", () => {
  const CronTab = fromCRD(CRON_TAB);
  assert.deepEqual(
    [CronTab.group, CronTab.version, CronTab.plural, CronTab.namespaced],
    ["stable.example.com", "v1", "crontabs", true],
  );
  const object = CronTab.new({ metadata: { name: "a" }, spec: { cronSpec: "1 2" } });
  assert.deepEqual(object["spec"], { cronSpec: "1 2", replicas: 1 });
  assert.deepEqual(CronTab.validate(object), []);
  assert.deepEqual(
    CronTab.validate(CronTab.new({ metadata: { name: "a" }, spec: { cronSpec: "nonsense", replicas: 9 } })).map(
      ({ field }) => field,
    ),
    ["spec.cronSpec", "spec.replicas"],
  );
});

test("it reads its own CRDs back, by version", () => {
  const kind = fromCRD(printYaml(Evolving.crd()));
  assert.deepEqual(kind.versions, ["v1", "v1beta1", "v1alpha2"]);
  assert.equal(kind.version, "v1");
  assert.equal(
    kind.atVersion("v1beta1").new({ metadata: { name: "a" }, spec: { a: "x" } }).apiVersion,
    "surfaces.example.com/v1beta1",
  );
  assert.throws(() => kind.atVersion("v1alpha1"), /Evolving serves no version v1alpha1/);
  assert.deepEqual(fromCRD(LLMModel.crd()).schema, LLMModel.schema);
});

test("a file may hold other things than CRDs, but not several kinds at once", () => {
  const list = printYaml(
    { apiVersion: "v1", kind: "List", items: [Database.crd(), LLMModel.crd()] },
    { apiVersion: "v1", kind: "Namespace" },
  );
  assert.deepEqual(
    crdsFromYaml(list).map(({ spec }) => spec.names.kind),
    ["Database", "LLMModel"],
  );
  assert.throws(() => fromCRD(list), /there are 2 CustomResourceDefinitions/);
  assert.throws(() => fromCRD("a: 1\n"), /there is no CustomResourceDefinition/);
});

test("types are written for a CRD", () => {
  assert.equal(
    typesFromCRD(CRON_TAB),
    `import type { KubeObject } from "konverge";
import { TypedKind } from "konverge/kinds";

/** Runs something now and then. */
export interface CronTab extends KubeObject {
  readonly apiVersion: "stable.example.com/v1";
  readonly kind: "CronTab";
  readonly spec: {
    /** When: minute and hour. Not *\\/ five */
    readonly cronSpec: string;
    readonly replicas: number;
    readonly mode?: "fast" | "slow" | null | undefined;
    readonly "odd-name"?: number | string | undefined;
    readonly tags?: readonly ("a" | "b")[] | undefined;
    /**
     * What to do,
     * in order.
     */
    readonly steps?: readonly {
      readonly run: string;
    }[] | undefined;
    readonly env?: Readonly<Record<string, string>> | undefined;
    readonly extra?: Readonly<Record<string, unknown>> | undefined;
  };
  readonly status?: {
    readonly ready?: boolean | undefined;
  } | undefined;
}

export const CronTab = new TypedKind<CronTab>({
  group: "stable.example.com",
  version: "v1",
  kind: "CronTab",
  plural: "crontabs",
  namespaced: true,
});
`,
  );
});

test("several versions get a type each", () => {
  const text = typesFromCRD(Evolving.crd());
  assert.deepEqual(
    [...text.matchAll(/export interface (\w+)/g)].map(([, name]) => name),
    ["EvolvingV1", "EvolvingV1beta1", "EvolvingV1alpha2"],
  );
});
