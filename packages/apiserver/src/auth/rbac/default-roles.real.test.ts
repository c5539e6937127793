import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { AnyObject } from "@konverge/core";
import { findControlPlane, type RealCluster, startRealCluster } from "@konverge/real";
import { type DefaultRoleFacts, defaultRoles } from "./default-roles.ts";
import type { BindingObject, RoleObject } from "./role-objects.ts";

const plane = findControlPlane();
const updating = process.env["UPDATE_FACTS"] !== undefined;

/**
 * `UPDATE_FACTS=1 node --test default-roles.real.test.ts` regenerates the data file from the real server instead of comparing
 * it with one.
 */
describe("the default roles", { skip: plane.available ? false : plane.why }, () => {
  let cluster: RealCluster;
  let real: AnyObject[];
  before(async () => {
    cluster = await startRealCluster({ controllers: true });
    real = await settledRoles(cluster);
    if (updating) {
      assert.ok(plane.available);
      writeFileSync(
        new URL("../generated/default-roles.json", import.meta.url),
        fileText(factsOf(real, plane.kubernetes)),
      );
    }
  });
  after(() => cluster?.stop());

  const skip = updating && "the data file was just written from it";
  test("are those of a real server, with their aggregated rules, labels and owners of fields", { skip }, () => {
    const ours = defaultRoles("T").flatMap(([, objects]) => objects) as AnyObject[];
    const byId = (objects: AnyObject[]) => new Map(objects.map((object) => [id(object), comparable(object)]));
    const [expected, actual] = [byId(real), byId(ours)];
    assert.deepEqual([...actual.keys()].sort(), [...expected.keys()].sort());
    for (const [name, object] of expected) assert.deepEqual(actual.get(name), object, name);
  });
});

async function settledRoles(cluster: RealCluster): Promise<AnyObject[]> {
  // The aggregation controller fills admin last, because it gathers edit, which gathers view.
  for (;;) {
    const { stdout, stderr, code } = await cluster.kubectl([
      "get",
      "clusterroles,clusterrolebindings,roles,rolebindings",
      "-A",
      "-o=json",
      "--show-managed-fields",
    ]);
    assert.equal(code, 0, stderr);
    const { items } = JSON.parse(stdout) as { items: AnyObject[] };
    const admin = items.find(({ kind, metadata }) => kind === "ClusterRole" && metadata.name === "admin") as RoleObject;
    if ((admin?.rules?.length ?? 0) >= 29) return items;
    await sleep(200);
  }
}

/** A line for each role and binding, so that changes can be read. */
function fileText(facts: DefaultRoleFacts): string {
  const parts = Object.entries(facts).map(([name, value]) => {
    const lines = Array.isArray(value) ? value.map((item) => JSON.stringify(item)) : undefined;
    return `${JSON.stringify(name)}: ${lines ? `[\n${lines.join(",\n")}\n]` : JSON.stringify(value)}`;
  });
  return `{\n${parts.join(",\n")}\n}\n`;
}

function id({ kind, metadata }: AnyObject): string {
  return `${kind} ${metadata.namespace ?? ""}/${metadata.name}`;
}

function comparable(object: AnyObject): object {
  const { uid: _, resourceVersion: __, creationTimestamp: ___, ...metadata } = object.metadata;
  const managedFields = metadata.managedFields?.map((entry) => ({ ...entry, time: "T" }));
  return JSON.parse(JSON.stringify({ ...object, metadata: { ...metadata, managedFields } })) as object;
}

function factsOf(objects: AnyObject[], kubernetes: string): DefaultRoleFacts {
  const of = <T>(kind: string) => objects.filter((object) => object.kind === kind) as unknown as T[];
  return {
    kubernetes,
    clusterRoles: of<RoleObject>("ClusterRole").map(({ metadata, rules, aggregationRule }) => {
      const { "kubernetes.io/bootstrapping": _, ...labels } = metadata.labels ?? {};
      const [aggregates] = Object.keys(aggregationRule?.clusterRoleSelectors?.[0]?.matchLabels ?? {});
      return {
        name: metadata.name,
        ...(Object.keys(labels).length > 0 && { labels }),
        ...(aggregates ? { aggregates } : { rules: rules ?? [] }),
      };
    }),
    clusterRoleBindings: of<BindingObject>("ClusterRoleBinding").map(({ metadata, roleRef, subjects }) => ({
      name: metadata.name,
      role: roleRef.name,
      ...(subjects && { subjects }),
    })),
    roles: of<RoleObject>("Role").map(({ metadata, rules }) => ({
      namespace: metadata.namespace ?? "",
      name: metadata.name,
      rules: rules ?? [],
    })),
    roleBindings: of<BindingObject>("RoleBinding").map(({ metadata, roleRef, subjects }) => ({
      namespace: metadata.namespace ?? "",
      name: metadata.name,
      role: roleRef.name,
      subjects: subjects ?? [],
    })),
  };
}
