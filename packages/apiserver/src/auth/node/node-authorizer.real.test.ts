import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { realClock, sleep } from "@konverge/core";
import { findControlPlane, type RealCluster, startRealCluster } from "@konverge/real";
import { askReal } from "../../../test/ask-real.ts";
import { clusterObjects, kubelet, NEEDED, OWN, REFUSED } from "../../../test/node-requests.ts";
import { putObjects } from "../../../test/role-store.ts";
import { requestInfo } from "../../http/request-info.ts";
import { Store } from "../../storage/store.ts";
import { attributesOf } from "../attributes.ts";
import { Authorizer } from "../rbac/authorizer.ts";
import { ensureDefaultRoles } from "../rbac/default-roles.ts";

const plane = findControlPlane();
const PATHS: Readonly<Record<string, string>> = {
  "/pods": "/api/v1/namespaces/team/pods",
  "/persistentvolumes": "/api/v1/persistentvolumes",
  "storage.k8s.io/volumeattachments": "/apis/storage.k8s.io/v1/volumeattachments",
  "resource.k8s.io/resourceslices": "/apis/resource.k8s.io/v1/resourceslices",
};

describe("kubelets are authorized as by a real server", { skip: plane.available ? false : plane.why }, () => {
  let cluster: RealCluster;
  const clock = realClock(1);
  const store = new Store({ clock });
  const authorizer = new Authorizer(store);

  before(async () => {
    cluster = await startRealCluster();
    ensureDefaultRoles(store, clock);
    await askReal(cluster, "POST", "/api/v1/namespaces", { body: { metadata: { name: "team" } } });
    for (const [resource, objects] of Object.entries(clusterObjects())) {
      for (const object of objects) await create(PATHS[resource]!, object);
      putObjects(store, resource, ...objects);
    }
  });
  after(() => cluster?.stop());

  /** Pods get what cannot be there from the start in the ways that clients add it. */
  async function create(path: string, object: object): Promise<void> {
    const { metadata, spec, status } = object as Partial<Record<string, Record<string, unknown>>>;
    const send = async (method: string, where: string, body: object, headers = {}) => {
      const answer = await askReal(cluster, method, where, { body, headers });
      assert.ok(answer.status < 300, answer.body.message);
    };
    const { ephemeralContainers, serviceAccountName, ...rest } = spec ?? {};
    if (serviceAccountName) {
      await send("POST", "/api/v1/namespaces/team/serviceaccounts", { metadata: { name: serviceAccountName } });
    }
    await send("POST", path, { metadata, spec: { ...rest, ...(serviceAccountName ? { serviceAccountName } : {}) } });
    const merge = { "content-type": "application/strategic-merge-patch+json" };
    const own = `${path}/${metadata?.["name"]}`;
    if (ephemeralContainers)
      await send("PATCH", `${own}/ephemeralcontainers`, { spec: { ephemeralContainers } }, merge);
    if (status) await send("PATCH", `${own}/status`, { status }, merge);
  }

  /** What the real server decides, and how it is asked. */
  async function decision(node: string, method: string, path: string) {
    const { name: user, groups } = kubelet(node);
    const action = attributesOf(requestInfo({ method, path }));
    const { isResource: _isResource, path: _path, fields = [], ...attributes } = action;
    const requirements = fields.map(({ field: key, operator, value }) => ({
      key,
      operator: operator === "=" ? "In" : "NotIn",
      values: [value],
    }));
    const fieldSelector = requirements.length > 0 ? { fieldSelector: { requirements } } : {};
    const spec = { user, groups, resourceAttributes: { ...attributes, ...fieldSelector } };
    const review = { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", spec };
    const where = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    const { body } = await askReal(cluster, "POST", where, { body: review });
    const { allowed, reason = "" } = body["status"] as { allowed: boolean; reason?: string };
    return { user: { name: user, groups }, action, real: { allowed, reason } };
  }

  test("every request of the table", async () => {
    // Its graph follows the objects a moment later.
    for (const [method, path] of NEEDED) {
      while (!(await decision("one", method, path)).real.allowed) await sleep(clock, 50);
    }
    for (const node of ["one", "two", ""]) {
      for (const [method, path] of [...NEEDED, ...OWN, ...REFUSED]) {
        const { user, action, real } = await decision(node, method, path);
        assert.deepEqual(authorizer.authorize(user, action), real, `${user.name}: ${method} ${path}`);
      }
    }
  });
});
