import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type AnyObject, ApiError, realClock } from "@konverge/core";
import { findControlPlane, type RealCluster, startRealCluster } from "@konverge/real";
import { askReal } from "../../../test/ask-real.ts";
import { putObjects, removeObject } from "../../../test/role-store.ts";
import { Store } from "../../storage/store.ts";
import { AccessControl } from "../access-control.ts";
import { ensureDefaultRoles } from "../rbac/default-roles.ts";
import { reviewLocalSubjectAccess, reviewSelfAccess, reviewSelfRules, reviewSubjectAccess } from "./access-reviews.ts";
import { reviewSelf, reviewToken } from "./identity-reviews.ts";
import { requestToken } from "./token-request.ts";

const plane = findControlPlane();
const ADMIN = { name: "admin", uid: "admin", groups: ["system:masters", "system:authenticated"] };

describe("reviews as a real server answers them", { skip: plane.available ? false : plane.why }, () => {
  let cluster: RealCluster;
  const clock = realClock(1);
  const store = new Store({ clock });
  const access = new AccessControl({ store, clock });
  const { authorizer, authenticator, serviceAccounts } = access;

  before(async () => {
    cluster = await startRealCluster();
    ensureDefaultRoles(store, clock);
    for (const [resource, path, object] of [
      ["/serviceaccounts", "namespaces/default/serviceaccounts", { metadata: { name: "robot", namespace: "default" } }],
      ["/secrets", "namespaces/default/secrets", { metadata: { name: "bound", namespace: "default" } }],
      ["/nodes", "nodes", { metadata: { name: "n1" } }],
      [
        "/pods",
        "namespaces/default/pods",
        {
          metadata: { name: "p1", namespace: "default" },
          spec: { nodeName: "n1", serviceAccountName: "robot", containers: [{ name: "c", image: "x" }] },
        },
      ],
    ] as const) {
      const { status, body } = await askReal(cluster, "POST", `/api/v1/${path}`, { body: object });
      assert.equal(status, 201, body.message);
      putObjects(store, resource, body);
    }
  });
  after(() => cluster?.stop());

  /** Both answers, without what differs between two runs of the same server. */
  async function compare(
    path: string,
    review: object,
    ours: (review: AnyObject) => () => AnyObject,
  ): Promise<AnyObject> {
    const { body, status } = await askReal(cluster, "POST", path, { body: review });
    const copy = { metadata: {}, ...structuredClone(review) } as AnyObject;
    let answer: unknown;
    try {
      answer = ours(copy)();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      answer = error.status;
    }
    assert.deepEqual(masked(answer), masked(body), `HTTP ${status}`);
    return answer as AnyObject;
  }

  const access_ = "/apis/authorization.k8s.io/v1";
  const review = (kind: string, spec: object, metadata?: object) => ({
    apiVersion: "authorization.k8s.io/v1",
    kind,
    ...(metadata && { metadata }),
    spec,
  });
  const pods = { verb: "get", resource: "pods", namespace: "default" };

  test("subject access reviews, good and bad", async () => {
    const specs: object[] = [
      { user: "x", groups: ["system:masters"], resourceAttributes: pods },
      { user: "x", resourceAttributes: pods },
      { user: "system:kube-scheduler", resourceAttributes: pods },
      { groups: ["system:authenticated"], nonResourceAttributes: { path: "/api", verb: "get" } },
      { user: "x" },
      { user: "x", resourceAttributes: pods, nonResourceAttributes: { path: "/x" } },
      { resourceAttributes: pods },
      {},
      { user: "x", resourceAttributes: { ...pods, fieldSelector: {}, labelSelector: {} } },
      { user: "x", resourceAttributes: { ...pods, fieldSelector: { rawSelector: "a=b,(" } } },
      { user: "x", resourceAttributes: { ...pods, labelSelector: { rawSelector: "a in (" } } },
      {
        user: "x",
        resourceAttributes: {
          ...pods,
          fieldSelector: { rawSelector: "a=b", requirements: [{ key: "", operator: "In" }] },
          labelSelector: {
            requirements: [
              { key: "a b", operator: "Foo" },
              { key: "x", operator: "In" },
              { key: "x", operator: "Exists", values: ["a/b"] },
            ],
          },
        },
      },
      {
        user: "x",
        resourceAttributes: {
          ...pods,
          fieldSelector: {
            requirements: [
              { key: "a", operator: "In", values: ["b"] },
              { key: "a", operator: "Exists" },
            ],
          },
          labelSelector: { requirements: [{ key: "x", operator: "Foo" }] },
        },
      },
    ];
    for (const spec of specs) {
      await compare(`${access_}/subjectaccessreviews`, review("SubjectAccessReview", spec), (object) =>
        reviewSubjectAccess(authorizer, object),
      );
      await compare(`${access_}/selfsubjectaccessreviews`, review("SelfSubjectAccessReview", spec), (object) =>
        reviewSelfAccess(authorizer, withoutSubject(object), ADMIN),
      );
      const namespace = "default";
      const path = `${access_}/namespaces/${namespace}/localsubjectaccessreviews`;
      await compare(path, review("LocalSubjectAccessReview", spec, { namespace }), (object) =>
        reviewLocalSubjectAccess(authorizer, object, namespace),
      );
      await compare(
        path,
        review("LocalSubjectAccessReview", { ...spec, resourceAttributes: { verb: "get" } }, { namespace }),
        (object) => reviewLocalSubjectAccess(authorizer, object, namespace),
      );
    }
  });

  test("rules reviews and self reviews", async () => {
    const rules = (spec: object) =>
      compare(`${access_}/selfsubjectrulesreviews`, review("SelfSubjectRulesReview", spec), (object) =>
        reviewSelfRules(authorizer, object, { name: "nobody", groups: [] }),
      );
    await rules({});
    const self = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview", metadata: { name: "ignored" } };
    await compare("/apis/authentication.k8s.io/v1/selfsubjectreviews", self, (object) =>
      reviewSelf(clock, object, ADMIN),
    );
  });

  test("token requests, good and bad, and what the tokens are worth", async () => {
    const request = (spec: object, metadata?: object, name = "robot") =>
      compare(
        `/api/v1/namespaces/default/serviceaccounts/${name}/token`,
        { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", ...(metadata && { metadata }), spec },
        (object) => () => requestToken(store, clock, serviceAccounts, { namespace: "default", name, object }),
      );
    const tokens = [
      await request({}),
      await request({ audiences: ["foo", "bar"], expirationSeconds: 700 }),
      await request({ boundObjectRef: { kind: "Secret", apiVersion: "v1", name: "bound" } }),
      await request({ boundObjectRef: { kind: "Node", apiVersion: "v1", name: "n1" } }),
      await request({ expirationSeconds: 3607, boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "p1" } }),
    ].map((object) => (object["status"] as { token: string }).token);
    await request({ expirationSeconds: 10 });
    await request({ expirationSeconds: 5_000_000_000 });
    await request({}, { name: "other" });
    await request({}, { uid: "other" });
    await request({}, undefined, "missing");
    await request({ boundObjectRef: { kind: "ConfigMap", apiVersion: "v1", name: "x" } });
    await request({ boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "missing" } });
    await request({ boundObjectRef: { kind: "Secret", apiVersion: "v1", name: "bound", uid: "other" } });

    const realTokens: string[] = [];
    for (const token of tokens) {
      const claims = JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString());
      const { "kubernetes.io": bound, aud, exp, iat } = claims;
      const path = "/api/v1/namespaces/default/serviceaccounts/robot/token";
      const kind = Object.keys(bound).find(
        (name) => ["pod", "secret", "node"].includes(name) && (name !== "node" || !bound.pod),
      );
      const ref = kind && { kind: kind[0]!.toUpperCase() + kind.slice(1), apiVersion: "v1", name: bound[kind].name };
      const seconds = bound.warnafter ? 3607 : exp - iat;
      const spec = { audiences: aud, expirationSeconds: seconds, ...(ref && { boundObjectRef: ref }) };
      const { body } = await askReal(cluster, "POST", path, { body: { spec } });
      const real = (body["status"] as { token: string }).token;
      realTokens.push(real);
      assert.deepEqual(
        maskedClaims(claims),
        maskedClaims(JSON.parse(Buffer.from(real.split(".")[1]!, "base64url").toString())),
      );
    }

    const judge = async (i: number, audiences?: string[]) => {
      const [ours, real] = [tokens, realTokens].map((list) => ({
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenReview",
        metadata: {} as AnyObject["metadata"],
        spec: { token: list[i], ...(audiences && { audiences }) },
      }));
      const { body } = await askReal(cluster, "POST", "/apis/authentication.k8s.io/v1/tokenreviews", { body: real });
      assert.deepEqual(
        masked(reviewToken(authenticator, serviceAccounts, ours!)()),
        masked(body),
        `token ${i} for ${audiences}`,
      );
    };
    // The real server remembers for ten seconds that a token was good: the bound one is not shown before its end.
    for (const i of [0, 1, 3, 4]) {
      await judge(i);
      await judge(i, ["foo", "baz"]);
    }
    await askReal(cluster, "DELETE", "/api/v1/namespaces/default/secrets/bound");
    removeObject(store, "/secrets", "default/bound");
    await judge(2, undefined);
    for (const list of [tokens, realTokens]) list.push("garbage", "a.b.c", `${list[0]!.slice(0, -8)}AAAAAAAA`);
    for (let i = 5; i < tokens.length; i++) await judge(i);
  });
});

function withoutSubject(object: AnyObject): AnyObject {
  // The real server has no such fields in this kind, and drops them.
  const { user: _, groups: __, ...spec } = object["spec"] as Record<string, unknown>;
  return { ...object, spec };
}

const TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

function masked(value: unknown): unknown {
  const text = JSON.stringify(value, (key, item) => {
    if (key === "managedFields") return undefined;
    if (key === "token") return "TOKEN";
    return item;
  });
  return JSON.parse(
    text
      .replace(/,?\\"managedFields\\":\[.*?\](?=[,}])/g, "")
      .replace(TIME, "TIME")
      .replace(/JTI=[-0-9a-f]+/g, "JTI=ID"),
  );
}

function maskedClaims({ exp, iat, nbf, jti, ...rest }: Record<string, unknown>): unknown {
  const bound = rest["kubernetes.io"] as Record<string, unknown>;
  const lifetime = Number(exp) - Number(iat);
  const warn = bound["warnafter"] === undefined ? undefined : Number(bound["warnafter"]) - Number(iat);
  return {
    ...rest,
    "kubernetes.io": { ...bound, warnafter: warn },
    lifetime,
    early: Number(nbf) - Number(iat),
    id: typeof jti,
  };
}
