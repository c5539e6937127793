import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiServer } from "@konverge/apiserver";
import { Client } from "@konverge/client";
import { VirtualClock } from "@konverge/core";
import { Namespace, Pod, type PodSpec, type PodTemplateSpec } from "@konverge/kinds";
import { restrictedPodSpec } from "./pod-security.ts";
import { type PodTemplateOverlay, podTemplate, podTemplateErrors } from "./pod-template.ts";

const rendered: PodTemplateSpec = {
  metadata: { labels: { app: "orders" } },
  spec: {
    initContainers: [{ name: "wait", image: "busybox" }],
    containers: [{ name: "main", image: "app:1", env: [{ name: "A", value: "1" }], ports: [{ containerPort: 80 }] }],
    volumes: [{ name: "data", emptyDir: {} }],
  },
};

/** Creates the pod in a namespace that enforces `restricted`. */
async function admitted(spec: PodSpec): Promise<void> {
  const clock = new VirtualClock();
  const client = new Client(new ApiServer({ clock }).transport, { clock });
  const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
  await client.create(Namespace, { metadata: { name: "strict", labels } });
  await client.create(Pod, { metadata: { name: "pod", namespace: "strict" }, spec });
}

test("a rendered pod is admitted where restricted is enforced, and gets no variables of Services", async () => {
  await assert.rejects(admitted(rendered.spec!), /violates PodSecurity "restricted:latest"/);
  const { spec } = podTemplate(rendered);
  await admitted(spec!);
  assert.equal(spec?.enableServiceLinks, false);
  assert.equal(rendered.spec?.securityContext, undefined, "what was rendered is not changed");
});

test("an image whose user is root runs as the user that is given, who can write to volumes", async () => {
  const { spec } = podTemplate(rendered, { user: 1000 });
  await admitted(spec!);
  const { runAsUser, fsGroup, fsGroupChangePolicy } = spec?.securityContext ?? {};
  assert.deepEqual([runAsUser, fsGroup, fsGroupChangePolicy], [1000, 1000, "OnRootMismatch"]);
});

test("a container that fails reports the end of its output, unless its author chose otherwise", () => {
  const { spec } = podTemplate(rendered, {
    overlay: { spec: { containers: [{ name: "main", terminationMessagePolicy: "File" }] } },
  });
  assert.deepEqual(
    [...spec!.initContainers!, ...spec!.containers].map(({ terminationMessagePolicy }) => terminationMessagePolicy),
    ["FallbackToLogsOnError", "File"],
  );
});

test("what a user sets for security stays, and nothing contradicts it", () => {
  const root = restrictedPodSpec({ containers: [{ name: "main" }], securityContext: { runAsUser: 0 } });
  assert.equal(root.securityContext?.runAsNonRoot, undefined);
  const [privileged, administrator, mounts, asRoot] = restrictedPodSpec({
    enableServiceLinks: true,
    containers: [
      { name: "privileged", securityContext: { privileged: true } },
      { name: "administrator", securityContext: { capabilities: { add: ["SYS_ADMIN"] } } },
      { name: "mounts", securityContext: { capabilities: { drop: ["NET_RAW"] }, allowPrivilegeEscalation: true } },
      { name: "as-root", securityContext: { runAsUser: 0 } },
    ],
  }).containers;
  assert.deepEqual(privileged?.securityContext, { privileged: true });
  assert.deepEqual(administrator?.securityContext, { capabilities: { drop: ["ALL"], add: ["SYS_ADMIN"] } });
  assert.deepEqual(mounts?.securityContext, { allowPrivilegeEscalation: true, capabilities: { drop: ["NET_RAW"] } });
  assert.equal(asRoot?.securityContext?.runAsNonRoot, false);
  const windows = restrictedPodSpec({ os: { name: "windows" }, containers: [{ name: "main" }] });
  assert.deepEqual([windows.securityContext, windows.containers[0]?.securityContext], [undefined, undefined]);
});

test("an overlay is merged strategically: containers, variables and volumes by name", () => {
  const overlay: PodTemplateOverlay = {
    metadata: { labels: { app: "other", team: "shop" }, annotations: { note: "x" } },
    spec: {
      nodeSelector: { disk: "ssd" },
      tolerations: [{ key: "nvidia.com/gpu", operator: "Exists" }],
      containers: [
        {
          name: "main",
          env: [{ name: "TOKEN", valueFrom: { secretKeyRef: { name: "hf", key: "token" } } }],
          resources: { limits: { memory: "1Gi" } },
        },
        { name: "sidecar", image: "log:1" },
      ],
      volumes: [{ name: "more", configMap: { name: "more" } }],
      terminationGracePeriodSeconds: 300,
    },
  };
  const { metadata, spec } = podTemplate(rendered, { overlay });
  assert.deepEqual(metadata, { labels: { app: "orders", team: "shop" }, annotations: { note: "x" } });
  const main = spec?.containers.find(({ name }) => name === "main");
  assert.deepEqual(main?.env?.map(({ name }) => name).sort(), ["A", "TOKEN"]);
  assert.deepEqual([main?.image, main?.resources], ["app:1", { limits: { memory: "1Gi" } }]);
  assert.deepEqual(spec?.containers.map(({ name }) => name).sort(), ["main", "sidecar"]);
  for (const { securityContext } of spec?.containers ?? []) {
    assert.equal(securityContext?.allowPrivilegeEscalation, false);
  }
  assert.deepEqual(spec?.volumes?.map(({ name }) => name).sort(), ["data", "more"]);
  assert.deepEqual([spec?.nodeSelector, spec?.terminationGracePeriodSeconds], [{ disk: "ssd" }, 300]);
});

test("an overlay with a field that pods do not have, or a value of the wrong type, is an error that names the field", () => {
  assert.deepEqual(podTemplateErrors({ spec: { nodeSelector: { a: "b" }, containers: [{ name: "main" }] } }), []);
  assert.deepEqual(podTemplateErrors(undefined), []);
  const wrong = { spec: { nodeSelectors: {}, terminationGracePeriodSeconds: "soon" } } as unknown as PodTemplateOverlay;
  assert.deepEqual(
    podTemplateErrors(wrong).map(({ field }) => field),
    ["spec.template.spec.nodeSelectors", "spec.template.spec.terminationGracePeriodSeconds"],
  );
});
