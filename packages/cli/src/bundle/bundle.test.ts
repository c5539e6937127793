import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { operators } from "@konverge/operators";
import { parseYaml } from "@konverge/schema";
import { greetingOperator } from "../../test/greeting-operator.ts";
import { bundleFindings } from "./bundle-checks.ts";
import { bundleFiles } from "./bundle-files.ts";
import type { BundleOptions } from "./cluster-service-version.ts";
import { readSamples } from "./read-samples.ts";

const sample = {
  apiVersion: "test.example.com/v1",
  kind: "Greeting",
  metadata: { name: "hello" },
  spec: { to: "world" },
};
const options: BundleOptions = {
  image: "registry.example.com/greet:v1",
  version: "1.1.0",
  replaces: "1.0.0",
  capabilityLevel: "Seamless Upgrades",
  channel: "stable",
  provider: "Example",
  samples: [sample, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "other" } }],
};

interface Csv {
  metadata: { name: string; annotations: Record<string, string> };
  spec: {
    replaces: string;
    installModes: { type: string; supported: boolean }[];
    customresourcedefinitions: { owned: { name: string; version: string; resources: { kind: string }[] }[] };
    install: {
      spec: {
        deployments: { name: string; spec: { template: { spec: { serviceAccountName: string } } } }[];
        clusterPermissions: { serviceAccountName: string; rules: { resources: string[] }[] }[];
        permissions: { rules: { resources: string[] }[] }[];
      };
    };
    webhookdefinitions: Record<string, unknown>[];
  };
}

test("a bundle has what OLM installs: the Deployment with its permissions, the kinds, and samples of them alone", () => {
  const files = bundleFiles([greetingOperator], options);
  assert.deepEqual([...bundleFiles([greetingOperator], options)], [...files]);
  const [csv] = parseYaml(
    files.get("greeting-operator/manifests/greeting-operator.clusterserviceversion.yaml")!,
  ) as unknown as [Csv];
  assert.equal(csv.metadata.name, "greeting-operator.v1.1.0");
  assert.equal(csv.spec.replaces, "greeting-operator.v1.0.0");
  assert.deepEqual(JSON.parse(csv.metadata.annotations["alm-examples"]!), [sample]);
  assert.equal(csv.metadata.annotations["capabilities"], "Seamless Upgrades");
  const { deployments, clusterPermissions, permissions } = csv.spec.install.spec;
  assert.equal(deployments[0]!.spec.template.spec.serviceAccountName, clusterPermissions[0]!.serviceAccountName);
  const has = (all: { rules: { resources: string[] }[] }[], resource: string) =>
    all[0]!.rules.some(({ resources }) => resources.includes(resource));
  assert.ok(has(clusterPermissions, "greetings") && has(permissions, "leases"));
  const { owned } = csv.spec.customresourcedefinitions;
  assert.deepEqual(owned.map(({ version }) => version).sort(), ["v1", "v1alpha1"]);
  assert.deepEqual(owned[0]!.resources, [{ kind: "ConfigMap", name: "", version: "v1" }]);
  // If a bundle owns a CRD, it contains it.
  for (const { name } of owned) assert.ok(files.has(`greeting-operator/manifests/${name}.crd.yaml`));
});

test("OLM registers the webhooks and issues their certificates, so the operator has no permission on either", () => {
  const text = bundleFiles([greetingOperator], options).get(
    "greeting-operator/manifests/greeting-operator.clusterserviceversion.yaml",
  )!;
  const [{ spec }] = parseYaml(text) as unknown as [Csv];
  assert.deepEqual(
    spec.webhookdefinitions.map(({ type, generateName, webhookPath, targetPort, conversionCRDs }) => [
      type,
      generateName,
      webhookPath,
      targetPort,
      conversionCRDs,
    ]),
    [
      [
        "ValidatingAdmissionWebhook",
        "validate.greetings.test.example.com",
        "/validate/greetings.test.example.com",
        9443,
        undefined,
      ],
      ["ConversionWebhook", "convert.greeting-operator", "/convert", 9443, ["greetings.test.example.com"]],
    ],
  );
  const { clusterPermissions, permissions, deployments } = spec.install.spec;
  const resources = [...clusterPermissions, ...permissions].flatMap(({ rules }) =>
    rules.flatMap((one) => one.resources),
  );
  assert.ok(
    !resources.some((one) => /webhookconfigurations|customresourcedefinitions|secrets/.test(one)),
    `${resources}`,
  );
  assert.match(JSON.stringify(deployments), /--webhook-certificates=\/tmp\/k8s-webhook-server\/serving-certs/);
});

test("the labels of the image are those of the metadata", () => {
  const files = bundleFiles([greetingOperator], options);
  const [{ annotations }] = parseYaml(files.get("greeting-operator/metadata/annotations.yaml")!) as unknown as [
    { annotations: Record<string, string> },
  ];
  assert.equal(annotations["operators.operatorframework.io.bundle.channels.v1"], "stable");
  const dockerfile = files.get("greeting-operator/bundle.Dockerfile")!;
  for (const [key, value] of Object.entries(annotations))
    assert.ok(dockerfile.includes(`LABEL ${key}=${value}\n`), key);
});

test("a sample that the API server would reject is an error; what is only missing is a warning", () => {
  const found = (more: Partial<BundleOptions>) =>
    bundleFindings([greetingOperator], { ...options, ...more }).map(({ level, message }) => `${level}: ${message}`);
  const starting = (text: string, more: Partial<BundleOptions>) =>
    assert.ok(
      found(more).some((line) => line.startsWith(text)),
      `${text}\nis not in\n${found(more).join("\n")}`,
    );
  assert.deepEqual(
    found({}).filter((line) => line.startsWith("error")),
    [],
  );
  starting("error: Greeting hello: spec.to:", { samples: [{ ...sample, spec: { to: 7 } } as never] });
  const { spec: _, ...bare } = sample;
  starting("error: Greeting hello: the sample has no spec", { samples: [bare] });
  starting("error: version v1 is not a semantic version", { version: "v1" });
  starting("warning: Greeting: there is no sample", { samples: [] });
  starting("warning: image greet has no fixed tag", { image: "greet" });
  starting("warning: the provider is unknown", { provider: undefined as never });
  starting("warning: greetings.test.example.com v1: spec fields without a description: to", {});
  // What Konverge adds to each status is not the author's to describe.
  assert.ok(!found({}).some((line) => /conditions|observedGeneration/.test(line)), found({}).join("\n"));
});

test("the bundles of Konverge's operators have no errors, with their own samples", () => {
  const root = fileURLToPath(new URL("../../../../operators/", import.meta.url));
  const samples = readSamples(
    [root].flatMap((path) => ["llm", "training", "database", "ray"].map((one) => `${path}${one}/samples`)),
  );
  const errors = bundleFindings(operators, { ...options, samples }).filter(({ level }) => level === "error");
  assert.deepEqual(errors, []);
  assert.ok(bundleFiles(operators, { ...options, samples }).size > operators.length * 4);
  assert.throws(() => readSamples(["/nowhere"]), /there is no file or folder \/nowhere: name your samples/);
});
