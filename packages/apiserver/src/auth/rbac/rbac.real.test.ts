import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type AnyObject, ApiError } from "@konverge/core";
import { findControlPlane, type RealCluster, startRealCluster } from "@konverge/real";
import { type Answer, askReal, type Credentials } from "../../../test/ask-real.ts";
import {
  GROUPS,
  generateRoles,
  NAMES,
  NAMESPACES,
  object,
  pick,
  random,
  someRule,
  someUser,
  subjects,
  USERS,
  VERBS,
} from "../../../test/generated-roles.ts";
import { emptyStore, putObjects } from "../../../test/role-store.ts";
import { type RequestInfo, requestInfo } from "../../http/request-info.ts";
import type { Store } from "../../storage/store.ts";
import { AccessControl } from "../access-control.ts";
import { attributesOf, forbiddenError } from "../attributes.ts";
import { reviewSelfRules, reviewSubjectAccess } from "../reviews/access-reviews.ts";
import { AUTHENTICATED, type User } from "../user.ts";
import { checkEscalation, type RbacWrite } from "./escalation.ts";
import { RBAC_GROUP, RBAC_RESOURCES } from "./role-objects.ts";
import type { PolicyRule } from "./rules.ts";

const plane = findControlPlane();
/** As the administrator makes a real server see a user. */
function asUser({ name, groups }: User): Record<string, string | string[]> {
  return { "impersonate-user": name, "impersonate-group": [...groups] };
}

describe("authorization as a real server does it", { skip: plane.available ? false : plane.why }, () => {
  let cluster: RealCluster;
  let store: Store;
  let access: AccessControl;

  before(async () => {
    cluster = await startRealCluster();
    await create("/api/v1/namespaces", object("Namespace", "team-a", "", { apiVersion: "v1" }) as unknown as AnyObject);
    for (const [plural, each] of generateRoles()) await create(collectionPath(plural, each.metadata.namespace), each);
    const fake = emptyStore();
    store = fake.store;
    access = new AccessControl(fake);
    for (const [plural, resource] of Object.entries(RBAC_RESOURCES)) {
      const { body } = await askReal(cluster, "GET", `/apis/${RBAC_GROUP}/v1/${plural.toLowerCase()}`);
      const kind = String(body.kind).replace(/List$/, "");
      for (const item of body["items"] as AnyObject[]) putObjects(store, resource, { ...item, kind });
    }
    await settled();
  });
  after(() => cluster?.stop());

  async function create(path: string, body: AnyObject): Promise<void> {
    const { status, body: answer } = await askReal(cluster, "POST", path, { body });
    assert.equal(status, 201, answer.message);
  }

  function collectionPath(plural: string, namespace?: string): string {
    return `/apis/${RBAC_GROUP}/v1/${namespace ? `namespaces/${namespace}/` : ""}${plural}`;
  }

  /** The real server's authorizer follows its own store with a delay: wait until it knows the last binding. */
  async function settled(): Promise<void> {
    const last = object("ClusterRoleBinding", "zz-last", "", {
      subjects: [{ apiGroup: RBAC_GROUP, kind: "User", name: "last" }],
      roleRef: { apiGroup: RBAC_GROUP, kind: "ClusterRole", name: "missing" },
    });
    await create(collectionPath("clusterrolebindings"), last as unknown as AnyObject);
    const spec = { user: "last", resourceAttributes: { verb: "list", resource: "pods" } };
    const body = { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", spec };
    await waitUntil(async () => {
      const path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
      const { body: review } = await askReal(cluster, "POST", path, { body });
      return (review["status"] as { reason?: string }).reason !== undefined;
    });
  }

  test("decides generated questions the same way, for the same reasons", async () => {
    const outcomes = { allowed: 0, denied: 0, missing: 0 };
    for (let i = 0; i < 400; i++) {
      const { name, groups } = someUser();
      const [resource, subresource] = pick([
        "pods",
        "pods/log",
        "secrets",
        "configmaps",
        "deployments/scale",
        "widgets/status",
        "roles",
        "jobs",
        "things",
      ]).split("/");
      const spec = {
        user: name,
        groups: [...groups],
        ...(random.below(5) === 0
          ? {
              nonResourceAttributes: {
                path: pick(["/metrics", "/logs/a", "/xyz", "/healthz/ping", "/api", "/"]),
                verb: pick(["get", "post"]),
              },
            }
          : {
              resourceAttributes: {
                verb: pick(VERBS.slice(0, 8)),
                group: pick(GROUPS.slice(0, 5)),
                resource,
                ...(subresource && { subresource }),
                namespace: pick(["", ...NAMESPACES, "elsewhere"]),
                name: pick(["", ...NAMES]),
              },
            }),
      };
      const review = {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SubjectAccessReview",
        metadata: {},
        spec,
      } as unknown as AnyObject;
      const path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
      const { body } = await askReal(cluster, "POST", path, { body: review });
      const real = body["status"] as { allowed: boolean; reason?: string };
      const ours = reviewSubjectAccess(access.authorizer, review)()["status"] as typeof real;
      assert.equal(ours.allowed, real.allowed, JSON.stringify(spec));
      // Where several bindings allow it, or lack their role, the real server names them in no particular order.
      assert.deepEqual(unordered(ours.reason), unordered(real.reason), JSON.stringify({ spec, ours, real }));
      if (real.allowed) outcomes.allowed++;
      else if (real.reason) outcomes.missing++;
      else outcomes.denied++;
    }
    for (const [outcome, count] of Object.entries(outcomes)) assert.ok(count > 20, `only ${count} were ${outcome}`);
  });

  const unordered = (reason = "") =>
    reason.startsWith("RBAC: allowed by") ? ["allowed"] : reason.split(/[[\], ]+/).sort();

  test("refuses generated requests with the same status", async () => {
    const paths = [
      "/api/v1/namespaces/NS/pods",
      "/api/v1/namespaces/NS/pods/one/log",
      "/api/v1/namespaces/NS/secrets/two",
      "/apis/apps/v1/namespaces/NS/deployments/one/scale",
      "/apis/apps/v1/deployments",
      "/api/v1/nodes",
      "/api/v1/namespaces/NS",
      "/apis/batch/v1/namespaces/NS/jobs?watch=true&timeoutSeconds=1",
      "/api/v1/namespaces/NS/configmaps?fieldSelector=metadata.name%3Done",
      "/metrics",
      "/logs/x%3Cy%3E",
      "/apis/example.com/v1/namespaces/NS/widgets",
    ];
    let refused = 0;
    for (let i = 0; i < 200; i++) {
      const user = someUser();
      const method = pick(["GET", "GET", "POST", "PUT", "PATCH", "DELETE"]);
      const path = pick(paths).replace("NS", pick(NAMESPACES));
      const headers = {
        ...asUser(user),
        ...(method === "PATCH" && { "content-type": "application/merge-patch+json" }),
      };
      const body = method === "GET" ? undefined : { kind: "nonsense" };
      const dry = path.includes("?") ? "&dryRun=All" : "?dryRun=All";
      const { status, body: real } = await askReal(cluster, method, method === "GET" ? path : path + dry, {
        headers,
        body,
      });
      const ours = outcome(() => requireAllowed(access, user, requestInfo({ method, path })));
      assert.equal(
        ours !== undefined,
        status === 403,
        `${method} ${path} by ${JSON.stringify(user)}: ${status} ${real.message}`,
      );
      if (!ours) continue;
      refused++;
      assert.deepEqual({ ...ours.status, message: wording(ours.message) }, { ...real, message: wording(real.message) });
    }
    assert.ok(refused > 60, `only ${refused} requests were refused`);
  });

  /** Missing roles come in any order. */
  const wording = (message = "") =>
    message.replace(/\[(.*)\]$/, (_, list: string) => `[${list.split(", ").sort().join(", ")}]`);

  test("refuses to grant what is not held, in the same words", async () => {
    let refused = 0;
    for (let i = 0; i < 120; i++) {
      const user = someUser();
      const namespace = pick(NAMESPACES);
      const resource = pick(["roles", "clusterroles", "rolebindings", "clusterrolebindings"] as const);
      const local = resource.startsWith("cluster") ? "" : namespace;
      const kind = {
        roles: "Role",
        clusterroles: "ClusterRole",
        rolebindings: "RoleBinding",
        clusterrolebindings: "ClusterRoleBinding",
      }[resource];
      const rules = Array.from({ length: 1 + random.below(2) }, someRule).filter(
        (rule) => !local || !rule.nonResourceURLs,
      );
      const roleRef = {
        apiGroup: RBAC_GROUP,
        kind: local && random.below(2) ? "Role" : "ClusterRole",
        name: pick([`gen-${random.below(14)}`, "view", "missing"]),
      };
      const written = object(
        kind,
        `new-${i}`,
        local,
        resource.endsWith("bindings") ? { subjects: subjects(), roleRef } : { rules },
      );
      const path = `${collectionPath(resource, local)}?dryRun=All`;
      const ours = outcome(() => {
        requireAllowed(access, user, requestInfo({ method: "POST", path }));
        checkEscalation(access.authorizer, {
          user,
          resource,
          namespace: local,
          name: "",
          object: written as unknown as RbacWrite["object"],
        });
      });
      const { status, body: real } = await askReal(cluster, "POST", path, { headers: asUser(user), body: written });
      assert.equal(ours?.code ?? 201, status, `${JSON.stringify(written)} by ${user.name}: ${real.message}`);
      if (!ours) continue;
      refused++;
      assert.deepEqual({ ...ours.status, message: wording(ours.message) }, { ...real, message: wording(real.message) });
    }
    assert.ok(refused > 40, `only ${refused} writes were refused`);
  });

  test("lists the same rules for every user", async () => {
    for (const name of USERS) {
      for (const namespace of NAMESPACES) {
        const user = { ...someUser(), name };
        const review = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectRulesReview", spec: { namespace } };
        const path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
        const { body } = await askReal(cluster, "POST", path, { headers: asUser(user), body: review });
        const ours = reviewSelfRules(access.authorizer, review as unknown as AnyObject, user)();
        assert.deepEqual(sortedRules(ours), sortedRules(body as unknown as AnyObject));
      }
    }
  });

  function sortedRules(review: AnyObject): unknown {
    const { resourceRules, nonResourceRules, evaluationError, ...rest } = review["status"] as Record<string, unknown>;
    const sorted = (rules: unknown) =>
      (rules as PolicyRule[]).map((rule) => JSON.stringify(Object.entries(rule).sort())).sort();
    return {
      ...review,
      status: {
        resource: sorted(resourceRules),
        other: sorted(nonResourceRules),
        error: wording(evaluationError as string),
        ...rest,
      },
    };
  }

  test("lets the same users act as others, and refuses the rest in the same words", async () => {
    const grants: [user: string, rules: PolicyRule[]][] = [
      ["plain", [{ apiGroups: [""], resources: ["users", "groups"], verbs: ["impersonate"] }]],
      ["named", [{ apiGroups: [""], resources: ["users"], resourceNames: ["jane"], verbs: ["impersonate"] }]],
      [
        "uids",
        [
          {
            apiGroups: ["", "authentication.k8s.io"],
            resources: ["users", "uids", "userextras/scopes"],
            verbs: ["impersonate"],
          },
        ],
      ],
      [
        "bound",
        [
          {
            apiGroups: ["authentication.k8s.io"],
            resources: ["users", "groups", "userextras/*", "serviceaccounts", "nodes"],
            verbs: ["impersonate:user-info", "impersonate:serviceaccount", "impersonate:arbitrary-node"],
          },
          {
            apiGroups: [""],
            resources: ["pods"],
            verbs: [
              "impersonate-on:user-info:list",
              "impersonate-on:serviceaccount:list",
              "impersonate-on:arbitrary-node:list",
            ],
          },
        ],
      ],
      ["nobody", []],
    ];
    const credentials = new Map<string, Credentials>();
    for (const [user, rules] of grants) {
      credentials.set(user, await cluster.issueClient(user));
      const parts: [string, object][] = [
        ["clusterroles", object("ClusterRole", `imp-${user}`, "", { rules })],
        [
          "clusterrolebindings",
          object("ClusterRoleBinding", `imp-${user}`, "", {
            subjects: [{ apiGroup: RBAC_GROUP, kind: "User", name: user }],
            roleRef: { apiGroup: RBAC_GROUP, kind: "ClusterRole", name: `imp-${user}` },
          }),
        ],
      ];
      for (const [plural, each] of parts) {
        await create(collectionPath(plural), each as AnyObject);
        putObjects(store, `${RBAC_GROUP}/${plural}`, each);
      }
    }
    await waitUntil(
      async () =>
        (
          await askReal(cluster, "GET", "/api/v1/pods", {
            as: credentials.get("bound")!,
            headers: { "impersonate-user": "jane", "impersonate-group": "system:masters" },
          })
        ).body.message?.includes("system:masters") ?? false,
    );

    const impersonations: Record<string, string | string[]>[] = [
      { "impersonate-user": "jane" },
      { "impersonate-user": "bob" },
      { "impersonate-user": "jane", "impersonate-group": ["devs"] },
      { "impersonate-user": "jane", "impersonate-group": ["system:masters"] },
      { "impersonate-user": "jane", "impersonate-group": ["a", "b", "c", "d"] },
      { "impersonate-user": "jane", "impersonate-uid": "u1" },
      { "impersonate-user": "jane", "impersonate-extra-scopes": ["s"] },
      { "impersonate-user": "jane", "impersonate-extra-acme.com%2fx": ["s"] },
      { "impersonate-user": "system:serviceaccount:team-a:robot" },
      { "impersonate-user": "system:serviceaccount:team-a:robot", "impersonate-group": ["x"] },
      { "impersonate-user": "system:node:n1" },
      { "impersonate-user": "system:node:n1", "impersonate-group": ["system:nodes"] },
      { "impersonate-user": "system:anonymous" },
      { "impersonate-group": ["devs"] },
      { "impersonate-uid": "u", "impersonate-extra-a": ["b"] },
    ];
    const refusals = new Set<string>();
    for (const [user] of grants) {
      for (const headers of impersonations) {
        for (const path of ["/api/v1/pods", "/apis/apps/v1/namespaces/default/deployments/x", "/api"]) {
          const real = await askReal(cluster, "GET", path, { as: credentials.get(user)!, headers });
          const info = requestInfo({ method: "GET", path });
          const ours = outcome(() => {
            const acting = access.impersonate({ name: user, groups: [AUTHENTICATED] }, headers, info);
            requireAllowed(access, acting!.user, info);
          });
          const text = `${path} by ${user} as ${JSON.stringify(headers)}`;
          compare(ours, real, text);
          if (ours) refusals.add(ours.message);
        }
      }
    }
    assert.ok(refusals.size > 30);
  });

  function compare(ours: ApiError | undefined, { status, body }: Answer, text: string): void {
    if (ours)
      assert.deepEqual(
        { status: ours.code, message: wording(ours.message) },
        { status, message: wording(body.message) },
        text,
      );
    else assert.ok(status !== 403 && status !== 400, `${text}: ${status} ${body.message}`);
  }
});

async function waitUntil(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    if (await holds()) return;
    await sleep(50);
  }
  assert.fail("the real server did not come to know of the new roles within 5 s");
}

/** As the server in front of the authorizer does. */
function requireAllowed(access: AccessControl, user: User, info: RequestInfo): void {
  const { allowed, reason } = access.authorize(user, info);
  if (!allowed) throw forbiddenError(user, attributesOf(info), reason);
}

/** The error that an action ends with, if it does. */
function outcome(action: () => void): ApiError | undefined {
  try {
    action();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  return undefined;
}
