import assert from "node:assert/strict";
import { test } from "node:test";
import { readText, VirtualClock } from "@konverge/core";
import { AuditLog } from "../../audit/audit-log.ts";
import { ApiServer } from "../../server.ts";
import { violations } from "./evaluate.ts";

const safe = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  runAsNonRoot: true,
  seccompProfile: { type: "RuntimeDefault" },
};
const c = { name: "c", image: "nginx", securityContext: safe };
const secured = (more: object) => ({ containers: [{ ...c, securityContext: { ...safe, ...more } }] });
const profiles = "container.apparmor.security.beta.kubernetes.io";

/** What a level reports of a pod that differs from a safe one by this. */
function reported(
  level: "baseline" | "restricted",
  spec: object,
  annotations = {},
  version: number | "latest" = "latest",
) {
  const pod = { annotations, spec: { containers: [c], ...spec } };
  return violations({ level, version }, pod).map(({ reason, detail }) => `${reason}: ${detail}`);
}

const BASELINE: [string, object, string, Record<string, string>?][] = [
  [
    "an AppArmor profile",
    secured({ appArmorProfile: { type: "Unconfined" } }),
    'forbidden AppArmor profile: container "c" must not set AppArmor profile type to "Unconfined"',
  ],
  [
    "a pod's AppArmor profile",
    { securityContext: { appArmorProfile: { type: "Unconfined" } } },
    'forbidden AppArmor profile: pod must not set AppArmor profile type to "Unconfined"',
  ],
  [
    "an AppArmor annotation",
    {},
    `forbidden AppArmor profile: annotation must not set AppArmor profile type to "${profiles}/c="unconfined""`,
    { [`${profiles}/c`]: "unconfined" },
  ],
  [
    "capabilities",
    secured({ capabilities: { drop: ["ALL"], add: ["SYS_ADMIN", "NET_RAW", "CHOWN"] } }),
    'non-default capabilities: container "c" must not include "NET_RAW", "SYS_ADMIN" in securityContext.capabilities.add',
  ],
  ["host namespaces", { hostPID: true, hostIPC: true }, "host namespaces: hostPID=true, hostIPC=true"],
  [
    "host ports, sorted as text",
    { containers: [{ ...c, ports: [{ hostPort: 90 }, { hostPort: 100 }] }] },
    'hostPort: container "c" uses hostPorts 100, 90',
  ],
  [
    "a probe's host",
    { containers: [{ ...c, livenessProbe: { httpGet: { host: "10.0.0.1", port: 80 } } }] },
    'probe or lifecycle host: container "c" uses probe or lifecycle host "10.0.0.1"',
  ],
  [
    "a lifecycle handler's host",
    { containers: [{ ...c, lifecycle: { preStop: { tcpSocket: { host: "a", port: 80 } } } }] },
    'probe or lifecycle host: container "c" uses probe or lifecycle host "a"',
  ],
  [
    "privileged containers",
    secured({ privileged: true }),
    'privileged: container "c" must not set securityContext.privileged=true',
  ],
  [
    "procMount",
    secured({ procMount: "Unmasked" }),
    'procMount: container "c" must not set securityContext.procMount to "Unmasked"',
  ],
  [
    "SELinux options",
    { securityContext: { seLinuxOptions: { type: "spc_t", user: "u", role: "r" } } },
    'seLinuxOptions: pod set forbidden securityContext.seLinuxOptions: type "spc_t"; user may not be set; role may not be set',
  ],
  [
    "an unconfined seccomp profile",
    { securityContext: { seccompProfile: { type: "Unconfined" } } },
    'seccompProfile: pod must not set securityContext.seccompProfile.type to "Unconfined"',
  ],
  [
    "sysctls",
    { securityContext: { sysctls: [{ name: "kernel.msgmax", value: "1" }] } },
    "forbidden sysctls: kernel.msgmax",
  ],
  [
    "Windows host processes",
    { securityContext: { windowsOptions: { hostProcess: true } } },
    "hostProcess: pod must not set securityContext.windowsOptions.hostProcess=true",
  ],
];

for (const [what, spec, message, annotations] of BASELINE) {
  test(`baseline and restricted forbid ${what}`, () => {
    assert.deepEqual(reported("baseline", spec, annotations), [message]);
    const strict = reported("restricted", spec, annotations);
    // The stricter check of the same thing has another message.
    const replaced =
      what === "capabilities"
        ? message.replace("non-default", "unrestricted").replace('"NET_RAW"', '"CHOWN", "NET_RAW"')
        : message;
    assert.ok(strict.includes(replaced), strict.join("\n"));
  });
}

const { runAsNonRoot: _runAsNonRoot, ...anyUser } = safe;
const { seccompProfile: _seccompProfile, ...anyCall } = safe;
const RESTRICTED: [string, object, string][] = [
  [
    "privilege escalation",
    secured({ allowPrivilegeEscalation: true }),
    'allowPrivilegeEscalation != false: container "c" must set securityContext.allowPrivilegeEscalation=false',
  ],
  [
    "the capabilities that containers have by default",
    secured({ capabilities: {} }),
    'unrestricted capabilities: container "c" must set securityContext.capabilities.drop=["ALL"]',
  ],
  [
    "volumes of other types",
    { volumes: [{ name: "v", nfs: { server: "s", path: "/" } }] },
    'restricted volume types: volume "v" uses restricted volume type "nfs"',
  ],
  [
    "root, unless it is excluded",
    { containers: [{ ...c, securityContext: anyUser }] },
    'runAsNonRoot != true: pod or container "c" must set securityContext.runAsNonRoot=true',
  ],
  ["the user 0", secured({ runAsUser: 0 }), 'runAsUser=0: container "c" must not set runAsUser=0'],
  [
    "a missing seccomp profile",
    { containers: [{ ...c, securityContext: anyCall }] },
    'seccompProfile: pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"',
  ],
];

for (const [what, spec, message] of RESTRICTED) {
  test(`restricted forbids ${what}, baseline does not`, () => {
    assert.deepEqual(reported("restricted", spec), [message]);
    assert.deepEqual(reported("baseline", spec), []);
  });
}

test("hostPath volumes are forbidden by both levels, as such and as a type of volume", () => {
  const spec = { volumes: [{ name: "v", hostPath: { path: "/" } }] };
  assert.deepEqual(reported("baseline", spec), ['hostPath volumes: volume "v"']);
  const message = 'restricted volume types: volume "v" uses restricted volume type "hostPath"';
  assert.deepEqual(reported("restricted", spec), [message]);
});

test("init and ephemeral containers are checked as the others are", () => {
  const bad = (name: string) => ({ ...c, name, securityContext: { ...safe, privileged: true } });
  const spec = { initContainers: [bad("a")], ephemeralContainers: [bad("b")] };
  const message = 'privileged: containers "a", "b" must not set securityContext.privileged=true';
  assert.deepEqual(reported("restricted", spec), [message]);
});

test("each check is the one of the version that a namespace asks for", () => {
  const probe = { containers: [{ ...c, livenessProbe: { httpGet: { host: "10.0.0.1", port: 80 } } }] };
  assert.deepEqual(reported("baseline", probe, {}, 33), []);
  assert.equal(reported("baseline", probe, {}, 34).length, 1);
  const keepalive = { securityContext: { sysctls: [{ name: "net.ipv4.tcp_keepalive_time", value: "1" }] } };
  assert.deepEqual(reported("baseline", keepalive, {}, 28), ["forbidden sysctls: net.ipv4.tcp_keepalive_time"]);
  assert.deepEqual(reported("baseline", keepalive, {}, 29), []);
  const engine = { securityContext: { seLinuxOptions: { type: "container_engine_t" } } };
  assert.equal(reported("baseline", engine, {}, 30).length, 1);
  assert.deepEqual(reported("baseline", engine, {}, 31), []);
  const annotation = { "seccomp.security.alpha.kubernetes.io/pod": "unconfined" };
  const message = 'seccompProfile: forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined"';
  assert.deepEqual(reported("baseline", {}, annotation, 18), [message]);
  assert.deepEqual(reported("baseline", {}, annotation, 19), []);
});

test("Windows pods need no Linux settings from 1.25 on", () => {
  const spec = { os: { name: "windows" }, containers: [{ name: "c", securityContext: { runAsNonRoot: true } }] };
  assert.equal(reported("restricted", spec, {}, 24).length, 3);
  assert.deepEqual(reported("restricted", spec, {}, 25), []);
});

test("with a user namespace, root is allowed by restricted, and all of /proc by baseline, from 1.35 on", () => {
  const root = { hostUsers: false, ...secured({ runAsNonRoot: false, runAsUser: 0, procMount: "Unmasked" }) };
  assert.equal(reported("restricted", root, {}, 34).length, 3);
  assert.deepEqual(reported("restricted", root), [
    'procMount: container "c" must not set securityContext.procMount to "Unmasked"',
  ]);
  assert.deepEqual(reported("baseline", root), []);
});

const LABEL = "pod-security.kubernetes.io";

/** A server with a namespace of these labels, and what it wrote to its audit log. */
async function serverWith(labels: Record<string, string>) {
  const clock = new VirtualClock();
  const lines: string[] = [];
  const sink = { write: (line: string) => lines.push(line) };
  const access = { tokens: [{ token: "t", user: { name: "admin", groups: ["system:masters"] } }] };
  const server = new ApiServer({
    clock,
    access,
    audit: new AuditLog({ policy: { rules: [{ level: "Metadata" }] }, clock, sink }),
  });
  const send = async (method: string, path: string, body: object) => {
    const type = method === "PATCH" ? "strategic-merge-patch+json" : "json";
    const headers = { authorization: "Bearer t", "content-type": `application/${type}` };
    const request = { method, path, headers, body: JSON.stringify(body) };
    const response = await server.guard.handle(request, { address: "127.0.0.1" });
    const { message = "" } = JSON.parse(await readText(response.body)) as { message?: string };
    const { annotations = {} } = JSON.parse(lines.at(-1) ?? "{}") as { annotations?: Record<string, string> };
    return { status: response.status, message, warning: String(response.headers["warning"] ?? ""), annotations };
  };
  const created = await send("POST", "/api/v1/namespaces", { metadata: { name: "n", labels } });
  return { send, created };
}

const pod = (name: string, spec: object = {}) => ({ metadata: { name }, spec: { containers: [c], ...spec } });

test("an ephemeral container cannot be what a pod could not", async () => {
  const { send } = await serverWith({ [`${LABEL}/enforce`]: "restricted" });
  assert.equal((await send("POST", "/api/v1/namespaces/n/pods", pod("p"))).status, 201);
  const debug = (securityContext: object) =>
    send("PATCH", "/api/v1/namespaces/n/pods/p/ephemeralcontainers", {
      spec: { ephemeralContainers: [{ name: "debug", image: "busybox", securityContext }] },
    });
  const refused = await debug({ ...safe, privileged: true, allowPrivilegeEscalation: true });
  assert.equal(refused.status, 403);
  assert.match(
    refused.message,
    /^pods "p" is forbidden: violates PodSecurity "restricted:latest": privileged \(container "debug"/,
  );
  assert.equal((await debug({ ...safe, runAsUser: 0 })).status, 403);
  assert.equal((await debug(safe)).status, 200);
});

test("an image that changes is checked again, labels that change are not", async () => {
  const { send } = await serverWith({});
  await send("POST", "/api/v1/namespaces/n/pods", pod("p", { hostPID: true }));
  const relabeled = await send("PATCH", "/api/v1/namespaces/n", {
    metadata: { labels: { [`${LABEL}/enforce`]: "baseline" } },
  });
  assert.match(
    relabeled.warning,
    /existing pods in namespace \\"n\\" violate the new PodSecurity enforce level \\"baseline:latest\\"/,
  );
  assert.match(relabeled.warning, /p: host namespaces/);
  assert.equal((await send("PATCH", "/api/v1/namespaces/n/pods/p", { metadata: { labels: { a: "b" } } })).status, 200);
  const update = { spec: { containers: [{ name: "c", image: "other" }] } };
  assert.equal((await send("PATCH", "/api/v1/namespaces/n/pods/p", update)).status, 403);
});

test("the levels of warnings and of the audit log have separate versions, and warnings follow what is enforced", async () => {
  const { send } = await serverWith({
    [`${LABEL}/enforce`]: "baseline",
    [`${LABEL}/enforce-version`]: "v1.33",
    [`${LABEL}/audit`]: "restricted",
    [`${LABEL}/audit-version`]: "v1.22",
  });
  const spec = { ...secured({ runAsUser: 0, allowPrivilegeEscalation: true }) };
  const created = await send("POST", "/api/v1/namespaces/n/pods", pod("p", spec));
  assert.equal(created.status, 201);
  assert.equal(created.warning, "");
  const refused = await send("POST", "/api/v1/namespaces/n/pods", pod("q", { hostPID: true }));
  assert.match(refused.message, /violates PodSecurity "baseline:v1.33": host namespaces \(hostPID=true\)$/);
  assert.equal(created.annotations[`${LABEL}/enforce-policy`], "baseline:v1.33");
  // There is no check of the user before 1.23.
  assert.match(
    created.annotations[`${LABEL}/audit-violations`]!,
    /^would violate PodSecurity "restricted:v1.22": allowPrivilegeEscalation[^,]*$/,
  );
  const template = { metadata: { labels: { a: "b" } }, spec: { containers: [c], hostPID: true } };
  const deployment = await send("POST", "/apis/apps/v1/namespaces/n/deployments", {
    metadata: { name: "d" },
    spec: { selector: { matchLabels: { a: "b" } }, template },
  });
  assert.equal(deployment.status, 201);
  assert.match(deployment.warning, /would violate PodSecurity \\"baseline:v1.33\\": host namespaces/);
});

test("labels that name no level or version are refused, when a namespace is created and when it is changed", async () => {
  const { created, send } = await serverWith({ [`${LABEL}/enforce`]: "strict", [`${LABEL}/warn-version`]: "1.20" });
  assert.equal(created.status, 422);
  assert.match(
    created.message,
    /metadata.labels\[pod-security.kubernetes.io\/enforce\]: Invalid value: "strict": must be one of privileged, baseline, restricted/,
  );
  assert.match(created.message, /must be "latest" or "v1.x"/);
  await send("POST", "/api/v1/namespaces", { metadata: { name: "n" } });
  const labels = { [`${LABEL}/audit`]: "none" };
  assert.equal((await send("PATCH", "/api/v1/namespaces/n", { metadata: { labels } })).status, 422);
});
