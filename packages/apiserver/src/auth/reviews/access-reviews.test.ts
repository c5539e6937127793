import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnyObject } from "@konverge/core";
import { emptyStore } from "../../../test/role-store.ts";
import { Authorizer } from "../rbac/authorizer.ts";
import { ensureDefaultRoles } from "../rbac/default-roles.ts";
import { reviewLocalSubjectAccess, reviewSelfAccess, reviewSelfRules, reviewSubjectAccess } from "./access-reviews.ts";
import { reviewSelf } from "./identity-reviews.ts";

const { store, clock } = emptyStore();
ensureDefaultRoles(store, clock);
const authorizer = new Authorizer(store);
const review = (spec: object, metadata: object = {}): AnyObject => ({
  apiVersion: "authorization.k8s.io/v1",
  kind: "SubjectAccessReview",
  metadata: metadata as AnyObject["metadata"],
  spec,
});
const pods = { verb: "get", resource: "pods", namespace: "a" };

test("an access review keeps the question and adds the answer", () => {
  const question = review({ user: "system:kube-scheduler", resourceAttributes: pods });
  assert.deepEqual(reviewSubjectAccess(authorizer, question)(), {
    ...question,
    status: {
      allowed: true,
      reason:
        'RBAC: allowed by ClusterRoleBinding "system:kube-scheduler" of ClusterRole "system:kube-scheduler" to User "system:kube-scheduler"',
    },
  });
  assert.deepEqual(reviewSubjectAccess(authorizer, review({ user: "x", resourceAttributes: pods }))()["status"], {
    allowed: false,
  });
});

test("one asks about oneself, and within a namespace", () => {
  const root = { name: "root", groups: ["system:masters"] };
  assert.deepEqual(reviewSelfAccess(authorizer, review({ resourceAttributes: pods }), root)()["status"], {
    allowed: true,
  });
  const local = (spec: object, namespace: string) =>
    reviewLocalSubjectAccess(authorizer, review({ user: "x", ...spec }, { namespace }), "a")()["status"];
  assert.deepEqual(local({ resourceAttributes: pods }, "a"), { allowed: false });
  assert.throws(() => local({ resourceAttributes: pods }, "b"), /must match metadata.namespace/);
  assert.throws(() => local({ nonResourceAttributes: { path: "/" } }, "a"), /disallowed on this kind of request/);
});

test("questions that make no sense are refused, with a cause for each fault", () => {
  const error = (spec: object, metadata?: object) => {
    try {
      reviewSubjectAccess(authorizer, review(spec, metadata));
    } catch (thrown) {
      return (thrown as { status: { code: number; message: string; details: { causes: object[] } } }).status;
    }
    return undefined;
  };
  const both = error({ resourceAttributes: pods, nonResourceAttributes: { path: "/x", verb: "get" } });
  assert.equal(both?.code, 422);
  assert.deepEqual(
    both?.details.causes.map((cause) => (cause as { field: string }).field),
    ["spec.nonResourceAttributes", "spec.user"],
  );
  assert.match(error({ user: "x" })!.message, /^\.authorization\.k8s\.io "" is invalid: spec\.resourceAttributes/);
  assert.match(
    error({ user: "x", resourceAttributes: pods }, { name: "n" })!.message,
    /\{"name":"n"\}: must be empty$/,
  );
});

test("a rules review lists what one may do", () => {
  const user = { name: "jane", groups: ["system:authenticated"] };
  const { status, spec } = reviewSelfRules(authorizer, review({ namespace: "a" }), user)() as unknown as {
    status: { resourceRules: object[]; nonResourceRules: object[] };
    spec: object;
  };
  assert.deepEqual(spec, {});
  assert.deepEqual(status.resourceRules, [
    {
      verbs: ["create"],
      apiGroups: ["authorization.k8s.io"],
      resources: ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
    },
    { verbs: ["create"], apiGroups: ["authentication.k8s.io"], resources: ["selfsubjectreviews"] },
  ]);
  assert.equal(status.nonResourceRules.length, 2);
  assert.throws(() => reviewSelfRules(authorizer, review({}), user), { code: 400, message: "no namespace on request" });
});

test("who am I", () => {
  const user = { name: "jane", uid: "u", groups: ["g"], extra: { k: ["v"] } };
  assert.deepEqual(reviewSelf(clock, review({}), user)(), {
    kind: "SelfSubjectReview",
    apiVersion: "authorization.k8s.io/v1",
    metadata: { creationTimestamp: "2026-01-01T00:00:00Z" },
    status: { userInfo: { username: "jane", uid: "u", groups: ["g"], extra: { k: ["v"] } } },
  });
});
