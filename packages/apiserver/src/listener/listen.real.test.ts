import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { findControlPlane } from "@konverge/real";
import { authority, clock, tls } from "../../test/clients.ts";
import { emptyStore } from "../../test/role-store.ts";
import { AccessControl } from "../auth/access-control.ts";
import { ensureDefaultRoles } from "../auth/rbac/default-roles.ts";
import { Guard } from "../guard.ts";
import { kubeconfigText } from "./kubeconfig.ts";
import { listen } from "./listen.ts";

const plane = findControlPlane();
const kubectl = plane.available ? plane.assets.kubectl : undefined;
const skip = plane.available ? (kubectl ? false : `${plane.folder} lacks kubectl`) : plane.why;

test("kubectl trusts our certificates, and we know whose it shows", { skip }, async () => {
  const { store } = emptyStore();
  ensureDefaultRoles(store, clock);
  const requests: string[] = [];
  const guard = new Guard({
    access: new AccessControl({ store, clock }),
    answer: async (_request, info, user) => {
      requests.push(`${user.name} ${user.groups[0]} ${info.path}`);
      return { status: 200, headers: { "content-type": "application/json" }, body: "{}\n" };
    },
  });
  await using listener = await listen(guard, { tls, host: "localhost" });
  const folder = mkdtempSync(join(tmpdir(), "konverge-kubectl-"));
  try {
    const kubeconfig = join(folder, "config");
    const credential = authority.client("kubernetes-admin", ["system:masters"]);
    const text = kubeconfigText({
      name: "konverge",
      url: listener.url,
      ca: authority.cert,
      user: "kubernetes-admin",
      credential,
    });
    writeFileSync(kubeconfig, text, { mode: 0o600 });
    const output = await new Promise<string>((resolve, reject) => {
      const args = [`--kubeconfig=${kubeconfig}`, "get", "--raw=/some/path"];
      execFile(kubectl!, args, { env: { HOME: folder, PATH: "" } }, (error, stdout, stderr) =>
        error ? reject(new Error(stderr)) : resolve(stdout),
      );
    });
    assert.equal(output, "{}\n");
    assert.deepEqual(requests, ["kubernetes-admin system:masters /some/path"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
