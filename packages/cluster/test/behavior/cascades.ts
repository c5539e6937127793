import assert from "node:assert/strict";
import { type KubeObject, ownerReference } from "@konverge/core";
import { ConfigMap, CustomResourceDefinition, Deployment, Namespace, ReplicaSet, Secret } from "@konverge/kinds";
import { assertEvent, type Behavior, conditionOf, find, labelsOf, podsOf, type Stage, template } from "./stage.ts";

const map = ({ client, namespace }: Stage, name: string, owners: KubeObject[] = [], more: object = {}) =>
  client.create(ConfigMap, {
    metadata: {
      name,
      namespace,
      ownerReferences: owners.map((owner) => ownerReference(ConfigMap, owner, { controller: false, ...more })),
    },
  });

const untilDeleted = (stage: Stage, name: string) =>
  stage.until(`${name} is deleted`, async () => !(await find(stage, ConfigMap, `${stage.namespace}/${name}`)));

const stays = async (stage: Stage, name: string) => {
  await stage.quiet();
  assert.ok(await find(stage, ConfigMap, `${stage.namespace}/${name}`), `${name} is gone`);
};

async function web(stage: Stage): Promise<void> {
  const { client, namespace } = stage;
  const spec = { replicas: 2, selector: { matchLabels: { ...labelsOf } }, template: template() };
  await client.create(Deployment, { metadata: { name: "web", namespace }, spec });
  await stage.until("two pods are there", async () => (await podsOf(stage)).length === 2);
}

export const cascades: Record<string, Behavior> = {
  "what an object owns goes with it, all the way down": async (stage) => {
    await web(stage);
    await stage.client.delete(Deployment, `${stage.namespace}/web`);
    await stage.until("all is gone", async () => {
      const sets = (await stage.client.list(ReplicaSet, { namespace: stage.namespace })).items;
      return sets.length === 0 && (await podsOf(stage)).length === 0;
    });
  },

  "an object with two owners stays until both are gone": async (stage) => {
    const [a, b] = [await map(stage, "a"), await map(stage, "b")];
    await map(stage, "child", [a, b]);
    await stage.client.delete(ConfigMap, `${stage.namespace}/a`);
    await stage.until("only the other owner is named", async () => {
      const child = await stage.client.get(ConfigMap, `${stage.namespace}/child`);
      return (
        child.metadata.ownerReferences?.map(({ name }) => name).join() === "b" ||
        child.metadata.ownerReferences?.length === 2
      );
    });
    await stays(stage, "child");
    await stage.client.delete(ConfigMap, `${stage.namespace}/b`);
    await untilDeleted(stage, "child");
  },

  "orphans stay, and no longer name the owner": async (stage) => {
    const owner = await map(stage, "owner");
    await map(stage, "child", [owner]);
    await stage.client.delete(ConfigMap, `${stage.namespace}/owner`, { propagationPolicy: "Orphan" });
    await untilDeleted(stage, "owner");
    await stays(stage, "child");
    const child = await stage.client.get(ConfigMap, `${stage.namespace}/child`);
    assert.equal(child.metadata.ownerReferences, undefined);
  },

  "in the foreground, the owner goes after those that block it": async (stage) => {
    const { client, namespace } = stage;
    const owner = await map(stage, "owner");
    const child = await map(stage, "child", [owner], { blockOwnerDeletion: true });
    await client.patch(ConfigMap, `${namespace}/child`, { merge: { metadata: { finalizers: ["example.com/hold"] } } });
    await client.delete(ConfigMap, `${namespace}/owner`, { propagationPolicy: "Foreground" });
    await stage.until("the child is being deleted", async () => {
      return (await client.get(ConfigMap, `${namespace}/child`)).metadata.deletionTimestamp !== undefined;
    });
    await stays(stage, "owner");
    assert.deepEqual((await client.get(ConfigMap, `${namespace}/owner`)).metadata.finalizers, ["foregroundDeletion"]);
    await client.patch(ConfigMap, `${namespace}/child`, {
      merge: { metadata: { finalizers: null, uid: child.metadata.uid } },
    });
    await untilDeleted(stage, "child");
    await untilDeleted(stage, "owner");
  },

  "in the foreground, the owner does not wait for those that do not block it": async (stage) => {
    const { client, namespace } = stage;
    const owner = await map(stage, "owner");
    await map(stage, "child", [owner], { blockOwnerDeletion: false });
    await client.patch(ConfigMap, `${namespace}/child`, { merge: { metadata: { finalizers: ["example.com/hold"] } } });
    await client.delete(ConfigMap, `${namespace}/owner`, { propagationPolicy: "Foreground" });
    await untilDeleted(stage, "owner");
    await client.patch(ConfigMap, `${namespace}/child`, { merge: { metadata: { finalizers: null } } });
    await untilDeleted(stage, "child");
  },

  "an owner that never was, or that has another uid now, owns nothing": async (stage) => {
    const owner = await map(stage, "owner");
    const ghost = {
      ...owner,
      metadata: { ...owner.metadata, name: "ghost", uid: "00000000-0000-4000-8000-000000000001" },
    };
    const former = { ...owner, metadata: { ...owner.metadata, uid: "00000000-0000-4000-8000-000000000002" } };
    await map(stage, "child", [owner]);
    await map(stage, "haunted", [ghost]);
    await map(stage, "outdated", [former]);
    await untilDeleted(stage, "haunted");
    await untilDeleted(stage, "outdated");
    await stays(stage, "child");
  },

  "an owner in another namespace is none, and an event says so": async (stage) => {
    const { client, namespace } = stage;
    await client.create(Namespace, { metadata: { name: `${namespace}-else` } });
    const owner = await client.create(ConfigMap, { metadata: { name: "owner", namespace: `${namespace}-else` } });
    await stage.quiet();
    await map(stage, "child", [owner]);
    await untilDeleted(stage, "child");
    await assertEvent(
      stage,
      "ConfigMap",
      "child",
      /^Warning OwnerRefInvalidNamespace ownerRef \[v1\/ConfigMap, namespace: .*, name: owner, uid: .*\] does not exist in namespace/,
    );
  },

  "a cluster-scoped owner takes along what it owns in namespaces; of a namespaced owner nothing cluster-scoped goes":
    async (stage) => {
      const { client, namespace } = stage;
      const owner = await client.create(Namespace, { metadata: { name: `${namespace}-owner` } });
      const ownerReferences = [ownerReference(Namespace, owner, { controller: false })];
      await client.create(ConfigMap, { metadata: { name: "child", namespace, ownerReferences } });
      const local = await map(stage, "local");
      const wrong = [ownerReference(ConfigMap, local, { controller: false })];
      await client.create(Namespace, { metadata: { name: `${namespace}-child`, ownerReferences: wrong } });
      await client.delete(ConfigMap, `${namespace}/local`);
      await client.delete(Namespace, `${namespace}-owner`);
      await untilDeleted(stage, "child");
      await stage.quiet();
      assert.equal((await client.get(Namespace, `${namespace}-child`)).metadata.deletionTimestamp, undefined);
    },

  "objects of a custom kind own and are owned like any other, as soon as there are some": async (stage) => {
    const { client, namespace } = stage;
    const group = `${namespace}.example.com`;
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    await client.create(CustomResourceDefinition, {
      metadata: { name: `gadgets.${group}` },
      spec: {
        group,
        scope: "Namespaced",
        names: { plural: "gadgets", kind: "Gadget", singular: "gadget", listKind: "GadgetList" },
        versions: [{ name: "v1", served: true, storage: true, schema: schema as never }],
      },
    });
    const Gadget = { group, version: "v1", kind: "Gadget", plural: "gadgets", namespaced: true };
    await stage.until("the kind is served", async () => {
      return conditionOf(await client.get(CustomResourceDefinition, `gadgets.${group}`), "Established") !== undefined;
    });
    const gadgetWithChild = async (name: string) => {
      let gadget: KubeObject | undefined;
      await stage.until("a gadget is made", async () => {
        gadget = await client.create(Gadget, { metadata: { name, namespace } }).catch(() => undefined);
        return gadget !== undefined;
      });
      const ownerReferences = [ownerReference(Gadget, gadget!, { controller: false })];
      await client.create(Secret, { metadata: { name: `${name}-child`, namespace, ownerReferences } });
    };
    const untilChildDeleted = (name: string) =>
      stage.until("the child is deleted", async () => !(await find(stage, Secret, `${namespace}/${name}-child`)));
    await gadgetWithChild("one");
    await client.delete(Gadget, `${namespace}/one`);
    await untilChildDeleted("one");
    // With the definition go its objects, and with them what they own, although the kind is no longer served.
    await gadgetWithChild("two");
    await client.delete(CustomResourceDefinition, `gadgets.${group}`);
    await untilChildDeleted("two");
  },

  "a namespace goes when it is empty, the pods first, and says what remains": async (stage) => {
    const { client } = stage;
    const name = `${stage.namespace}-full`;
    await client.create(Namespace, { metadata: { name } });
    await client.create(ConfigMap, { metadata: { name: "plain", namespace: name } });
    await client.create(Secret, { metadata: { name: "held", namespace: name, finalizers: ["example.com/hold"] } });
    await client.delete(Namespace, name);
    const get = () => find(stage, Namespace, name);
    await stage.until("it says what remains", async () => {
      return conditionOf(await get(), "NamespaceFinalizersRemaining") === "True SomeFinalizersRemain";
    });
    const left = await client.get(Namespace, name);
    assert.equal(left.status?.phase, "Terminating");
    const message = (type: string) => left.status?.conditions?.find((condition) => condition.type === type)?.message;
    assert.equal(
      message("NamespaceContentRemaining"),
      "Some resources are remaining: secrets. has 1 resource instances",
    );
    assert.equal(
      message("NamespaceFinalizersRemaining"),
      "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
    );
    await client.patch(Secret, `${name}/held`, { merge: { metadata: { finalizers: null } } });
    await stage.until("it is gone", async () => !(await get()));
  },
};
