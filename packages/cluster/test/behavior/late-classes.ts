import assert from "node:assert/strict";
import { isForbidden } from "@konverge/core";
import { Pod, PriorityClass, ReplicaSet, RuntimeClass } from "@konverge/kinds";
import { assertEvent, type Behavior, labelsOf, podsOf, type Stage, template } from "./stage.ts";

/** A set whose pods name something that is not there yet, and the words by which they are refused. */
async function refusedSet(stage: Stage, spec: object, why: RegExp): Promise<void> {
  const { client, namespace } = stage;
  const pod = template();
  await client.create(ReplicaSet, {
    metadata: { name: "web", namespace },
    spec: {
      replicas: 2,
      selector: { matchLabels: { ...labelsOf } },
      template: { ...pod, spec: { ...pod.spec, ...spec } },
    },
  });
  await assertEvent(stage, "ReplicaSet", "web", why);
  assert.deepEqual(await podsOf(stage), []);
}

const recovers = async (stage: Stage) => {
  await stage.until("the pods are there", async () => (await podsOf(stage)).length === 2);
  return podsOf(stage);
};

export const lateClasses: Record<string, Behavior> = {
  "pods of a runtime class that comes later are refused until then, and a set goes on by itself": async (stage) => {
    const { client, namespace } = stage;
    const name = `${namespace}-sandbox`;
    await refusedSet(
      stage,
      { runtimeClassName: name },
      /^Warning FailedCreate Error creating: pods "web-\w*" is forbidden: pod rejected: RuntimeClass "\S+-sandbox" not found$/,
    );
    const overhead = { podFixed: { cpu: "100m" } };
    await client.create(RuntimeClass, { metadata: { name }, handler: "sandbox", overhead } as never);
    const pods = await recovers(stage);
    for (const { spec } of pods) assert.deepEqual(spec?.overhead, { cpu: "100m" });
  },

  "pods of a priority class that comes later are refused until then, and a set goes on by itself": async (stage) => {
    const { client, namespace } = stage;
    const name = `${namespace}-urgent`;
    await refusedSet(
      stage,
      { priorityClassName: name },
      /^Warning FailedCreate Error creating: pods "web-\w*" is forbidden: no PriorityClass with name \S+-urgent was found$/,
    );
    await client.create(PriorityClass, { metadata: { name }, value: 7 } as never);
    const pods = await recovers(stage);
    for (const { spec } of pods) assert.equal(spec?.priority, 7);
  },

  "a pod of its own that is refused is not made later": async (stage) => {
    const { client, namespace } = stage;
    const { spec } = template();
    const pod = { metadata: { name: "alone", namespace }, spec: { ...spec, runtimeClassName: `${namespace}-sandbox` } };
    await assert.rejects(client.create(Pod, pod), isForbidden);
    await client.create(RuntimeClass, { metadata: { name: `${namespace}-sandbox` }, handler: "sandbox" } as never);
    await stage.quiet();
    assert.deepEqual(await podsOf(stage), []);
    await client.create(Pod, pod);
  },
};
