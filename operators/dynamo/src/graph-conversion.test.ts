import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DynamoGraphDeployment } from "./graph-deployment.ts";

const metadata = { name: "g", namespace: "ns" };
type Spec = Parameters<typeof DynamoGraphDeployment.new>[0]["spec"];
const alpha = (spec: Spec) => DynamoGraphDeployment.new({ metadata, spec });
const Beta = DynamoGraphDeployment.atVersion("v1beta1");
const beta = (spec: Parameters<typeof Beta.new>[0]["spec"]) => Beta.new({ metadata, spec });

test("what v1alpha1 says about pods is a pod template in v1beta1", () => {
  const { spec } = DynamoGraphDeployment.convert(
    alpha({
      backendFramework: "vllm",
      services: {
        VllmPrefillWorker: {
          componentType: "worker",
          subComponentType: "prefill",
          replicas: 2,
          envFromSecret: "hf-token",
          envs: [{ name: "A", value: "1" }],
          labels: { team: "x" },
          resources: { limits: { gpu: "1" }, requests: { custom: { "ephemeral-storage": "10Gi" } } },
          sharedMemory: { size: "16Gi" },
          volumeMounts: [{ name: "models", mountPoint: "/models" }],
          extraPodSpec: {
            nodeSelector: { pool: "gpu" },
            mainContainer: { image: "runtime:1.4.1", command: ["python3"], env: [{ name: "B", value: "2" }] },
          },
        },
      },
    }),
    "v1beta1",
  );
  assert.deepEqual(spec.components, [
    {
      name: "VllmPrefillWorker",
      type: "prefill",
      replicas: 2,
      sharedMemorySize: "16Gi",
      podTemplate: {
        metadata: { labels: { team: "x" } },
        spec: {
          nodeSelector: { pool: "gpu" },
          containers: [
            {
              name: "main",
              image: "runtime:1.4.1",
              command: ["python3"],
              env: [
                { name: "A", value: "1" },
                { name: "B", value: "2" },
              ],
              envFrom: [{ secretRef: { name: "hf-token" } }],
              resources: { limits: { "nvidia.com/gpu": "1" }, requests: { "ephemeral-storage": "10Gi" } },
              volumeMounts: [{ name: "models", mountPath: "/models" }],
            },
          ],
          volumes: [{ name: "models", persistentVolumeClaim: { claimName: "models" } }],
        },
      },
    },
  ]);
});

test("a component of v1beta1 is stored as a service with the same pods", () => {
  const { spec } = DynamoGraphDeployment.convert(
    beta({
      env: [{ name: "A", value: "1" }],
      components: [
        {
          name: "Decode",
          type: "decode",
          sharedMemorySize: "0",
          compilationCache: { pvcName: "cache", mountPath: "/cache" },
          frontendSidecar: "frontend",
          podTemplate: {
            spec: {
              containers: [
                { name: "frontend", image: "f" },
                { name: "main", image: "w" },
              ],
            },
          },
        },
      ],
    }),
    "v1alpha1",
  );
  assert.deepEqual(spec, {
    envs: [{ name: "A", value: "1" }],
    services: {
      Decode: {
        componentType: "worker",
        subComponentType: "decode",
        sharedMemory: { disabled: true },
        volumeMounts: [{ name: "cache", mountPoint: "/cache", useAsCompilationCache: true }],
        frontendSidecar: { container: "frontend" },
        extraPodSpec: { mainContainer: { image: "w" }, containers: [{ name: "frontend", image: "f" }] },
      },
    },
  });
});

test("a service that nothing changed reads as it was written, also after a change of another one in v1beta1", () => {
  const worker = { componentType: "worker" as const, envFromSecret: "s", annotations: { a: "1" } };
  const written = alpha({ services: { Frontend: { componentType: "frontend" }, Worker: worker } });
  const read = DynamoGraphDeployment.convert(written, "v1beta1");
  const [frontend, ...others] = read.spec.components!;
  const changed = { ...read, spec: { ...read.spec, components: [{ ...frontend!, replicas: 3 }, ...others] } };
  const { services } = DynamoGraphDeployment.convert(changed, "v1alpha1").spec;
  assert.deepEqual(services, { Frontend: { componentType: "frontend", replicas: 3 }, Worker: worker });
  const replicas = { ...read, spec: { components: [frontend!, { ...others[0]!, replicas: 4 }] } };
  assert.equal(DynamoGraphDeployment.convert(replicas, "v1alpha1").spec.services?.["Worker"]?.replicas, 4);
});

test("an annotation that a user damaged is ignored", () => {
  const read = DynamoGraphDeployment.convert(alpha({ services: { W: { envFromSecret: "s" } } }), "v1beta1");
  for (const text of ["", "{", "null", '{"W": null}', '{"W": 1}', "[]"]) {
    const annotations = { "nvidia.com/original-services": text };
    const stored = DynamoGraphDeployment.convert({ ...read, metadata: { ...metadata, annotations } }, "v1alpha1");
    const [main] = [stored.spec.services?.["W"]?.extraPodSpec?.mainContainer];
    assert.deepEqual(main?.envFrom, [{ secretRef: { name: "s" } }], text);
  }
});

const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9]{0,6}$/);
const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const record = <T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(fields, { requiredKeys: [] }) as fc.Arbitrary<Partial<T>>;
const texts = fc.dictionary(name, name, { maxKeys: 2 });
const variable = fc.record({ name, value: name });
const variables = fc.uniqueArray(variable, { selector: (one) => one.name, maxLength: 2 });
const container = record({ image: name, command: fc.array(name, { maxLength: 2 }), env: variables });
const service = record({
  componentType: fc.constantFrom("frontend", "worker", "prefill", "main", "default"),
  subComponentType: fc.constantFrom("prefill", "decode", "other"),
  replicas: fc.nat(5),
  labels: texts,
  annotations: texts,
  envs: variables,
  envFromSecret: name,
  sharedMemory: record({ disabled: fc.boolean(), size: fc.constantFrom("1Gi", "0") }),
  resources: record({ limits: record({ gpu: fc.constant("1"), cpu: fc.constant("2") }) }),
  volumeMounts: fc.array(
    fc.record({ name, mountPoint: fc.constantFrom("/a", "/b"), useAsCompilationCache: fc.boolean() }),
    { maxLength: 2 },
  ),
  frontendSidecar: record({ image: name, args: fc.array(name), container: name }),
  gpuMemoryService: record({ enabled: fc.boolean(), deviceClassName: name }),
  extraPodMetadata: record({ labels: texts, annotations: texts }),
  extraPodSpec: record({
    mainContainer: container,
    containers: fc.array(
      container.map((one) => ({ ...one, name: "side" })),
      { maxLength: 1 },
    ),
    nodeSelector: texts,
  }),
});
const component = fc
  .tuple(
    name,
    record({
      type: fc.constantFrom("frontend", "worker", "prefill", "decode", "default"),
      replicas: fc.nat(5),
      sharedMemorySize: fc.constantFrom("1Gi", "0", "0Gi"),
      frontendSidecar: name,
      experimental: record({ gpuMemoryService: record({ extraClientContainers: fc.array(name) }) }),
      compilationCache: fc.record({ pvcName: name, mountPath: fc.constant("/c") }),
      podTemplate: record({
        metadata: record({ labels: texts, annotations: texts, creationTimestamp: fc.constant(null) }),
        spec: fc.record({
          containers: fc.uniqueArray(
            fc.tuple(fc.constantFrom("main", "x", "y"), container).map(([is, one]) => ({ ...one, name: is })),
            { selector: (one) => one.name },
          ),
        }),
      }),
    }),
  )
  .map(([its, fields]) => ({ name: its, ...fields }));

test("nothing is lost on the way through the other version, whatever was written", () => {
  const services = fc.dictionary(name, service, { maxKeys: 3 });
  fc.assert(
    fc.property(services, some(variables), (given, envs) => {
      const written = alpha({ services: given, ...(envs && { envs }) } as Spec);
      const back = DynamoGraphDeployment.convert(DynamoGraphDeployment.convert(written, "v1beta1"), "v1alpha1");
      assert.deepEqual(back.spec, written.spec);
      assert.deepEqual(back.metadata.annotations ?? {}, {});
    }),
  );
  const components = fc.uniqueArray(component, { selector: (one) => one.name, maxLength: 3 });
  fc.assert(
    fc.property(components, (given) => {
      const written = beta({ components: given as never });
      const back = DynamoGraphDeployment.convert(DynamoGraphDeployment.convert(written, "v1alpha1"), "v1beta1");
      assert.deepEqual(back.spec, written.spec);
      assert.deepEqual(back.metadata.annotations ?? {}, {});
    }),
  );
});
