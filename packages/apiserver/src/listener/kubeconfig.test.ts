import assert from "node:assert/strict";
import { test } from "node:test";
import { createAuthority } from "@konverge/certificates";
import { VirtualClock } from "@konverge/core";
import { parseYaml } from "@konverge/schema";
import { kubeconfigText } from "./kubeconfig.ts";

const authority = createAuthority(new VirtualClock());

test("a kubeconfig is YAML that clients read", () => {
  const credential = authority.client("kubernetes-admin", ["system:masters"]);
  const text = kubeconfigText({
    name: "konverge",
    url: "https://127.0.0.1:6443",
    ca: authority.cert,
    user: "admin: yes",
    credential,
    namespace: "default",
  });
  const base64 = (value: string) => Buffer.from(value).toString("base64");
  assert.deepEqual(parseYaml(text)[0], {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "konverge",
    clusters: [
      {
        name: "konverge",
        cluster: { server: "https://127.0.0.1:6443", "certificate-authority-data": base64(authority.cert) },
      },
    ],
    contexts: [{ name: "konverge", context: { cluster: "konverge", user: "admin: yes", namespace: "default" } }],
    users: [
      {
        name: "admin: yes",
        user: {
          "client-certificate-data": base64(credential.cert),
          "client-key-data": base64(credential.key),
        },
      },
    ],
  });
  const token = kubeconfigText({ name: "k", url: "http://x", user: "u", credential: { token: "t" } });
  assert.deepEqual((parseYaml(token)[0] as { users: { user: unknown }[] }).users[0]!.user, { token: "t" });
});
