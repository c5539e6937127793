import type { Operator } from "@konverge/runtime";
import { printYaml } from "@konverge/schema";
import { checkedName } from "../checked-name.ts";
import type { Files } from "../manifests/files.ts";
import { operatorObjects, partsOf } from "../manifests/operator-objects.ts";
import type { SettingSources } from "../operators/settings.ts";
import { type BundleOptions, clusterServiceVersion } from "./cluster-service-version.ts";

const WRITTEN = "# Written by `konverge bundle`. Change the operator and run it again.\n";

/** OLM bundles of operators, a folder for each. The same input gives the same text. */
export function bundleFiles(
  operators: readonly Operator[],
  options: BundleOptions & { readonly settings?: SettingSources },
): Files {
  const files = new Map<string, string>();
  for (const operator of operators) {
    const folder = checkedName(operator.name, "operator");
    for (const [path, text] of operatorBundle(operator, options)) files.set(`${folder}/${path}`, text);
  }
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function operatorBundle(operator: Operator, options: BundleOptions & { readonly settings?: SettingSources }): Files {
  const { name } = operator;
  const parts = partsOf(operator, options.settings);
  const { namespace = name } = options;
  const objects = operatorObjects(operator, { ...options, namespace, webhookCa: "olm" });
  const samples = options.samples.filter((sample) => isOf(sample, operator));
  const files = new Map<string, string>();
  const yaml = (path: string, value: object) => files.set(path, WRITTEN + printYaml(value));
  yaml(
    `manifests/${name}.clusterserviceversion.yaml`,
    clusterServiceVersion(operator, parts, objects, { ...options, namespace, samples }),
  );
  for (const crd of objects.crds) yaml(`manifests/${crd.metadata.name}.crd.yaml`, crd);
  yaml("metadata/annotations.yaml", { annotations: labels(name, options.channel) });
  yaml("tests/scorecard/config.yaml", scorecard());
  files.set("bundle.Dockerfile", dockerfile(name, options.channel));
  return files;
}

function isOf({ apiVersion = "", kind }: { apiVersion?: string; kind?: string }, { kinds }: Operator): boolean {
  return kinds.some((one) => one.kind === kind && one.group === apiVersion.split("/")[0]);
}

/** What the image of a bundle is labeled with, and what its metadata repeats. */
function labels(name: string, channel: string): Record<string, string> {
  return {
    "operators.operatorframework.io.bundle.mediatype.v1": "registry+v1",
    "operators.operatorframework.io.bundle.manifests.v1": "manifests/",
    "operators.operatorframework.io.bundle.metadata.v1": "metadata/",
    "operators.operatorframework.io.bundle.package.v1": name,
    "operators.operatorframework.io.bundle.channels.v1": channel,
    "operators.operatorframework.io.bundle.channel.default.v1": channel,
    "operators.operatorframework.io.test.mediatype.v1": "scorecard+v1",
    "operators.operatorframework.io.test.config.v1": "tests/scorecard/",
  };
}

function dockerfile(name: string, channel: string): string {
  const lines = Object.entries(labels(name, channel)).map(([key, value]) => `LABEL ${key}=${value}`);
  const copies = ["manifests", "metadata", "tests/scorecard"].map((folder) => `COPY ${folder} /${folder}/`);
  return `${WRITTEN}FROM scratch\n${[...lines, ...copies].join("\n")}\n`;
}

/** The tests of `operator-sdk scorecard`. */
function scorecard(): object {
  const image = "quay.io/operator-framework/scorecard-test:v1.42.0";
  const olm = [
    "bundle-validation",
    "crds-have-validation",
    "crds-have-resources",
    "spec-descriptors",
    "status-descriptors",
  ];
  const one = (entrypoint: string, suite: string, test: string) => ({
    entrypoint: ["scorecard-test", entrypoint],
    image,
    labels: { suite, test },
  });
  return {
    apiVersion: "scorecard.operatorframework.io/v1alpha3",
    kind: "Configuration",
    metadata: { name: "config" },
    stages: [
      {
        parallel: true,
        tests: [
          one("basic-check-spec", "basic", "basic-check-spec-test"),
          ...olm.map((name) => one(`olm-${name}`, "olm", `olm-${name}-test`)),
        ],
      },
    ],
  };
}
