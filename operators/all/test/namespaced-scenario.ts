import assert from "node:assert/strict";
import type { TestEnvironment } from "@konverge/dev";
import { renderedFields, type Scenario, supplyVolumes } from "@konverge/operator-suite";
import { samplesOf } from "@konverge/operators";
import { type KindRef, type KubeObject, keyOf, type Operator } from "konverge";
import { ClusterRole, ClusterRoleBinding } from "konverge/kinds";

/**
 * Applies the samples of an operator that has Roles in the namespace of the test environment, and in its own, alone. No request
 * is forbidden, none leaves these namespaces, and pods are rendered.
 */
export function worksInNamespaces(operator: Operator, idle: (milliseconds: number) => number = (ms) => ms): Scenario {
  return async (stage) => {
    const rendered = new Set<string>();
    const forbidden: string[] = [];
    const elsewhere: string[] = [];
    stage.injectFault(async (request, next) => {
      for (const field of renderedFields(request)) rendered.add(field);
      const [, namespace] = /\/namespaces\/([^/?]+)\//.exec(request.path) ?? [];
      if (namespace !== undefined && !namespace.startsWith(stage.namespace)) elsewhere.push(request.path);
      const response = await next(request);
      if (response.status === 403) forbidden.push(`${request.method} ${request.path}`);
      return response;
    });
    await supplyVolumes(stage, "20Gi");
    await stage.start(operator, { namespaces: [stage.namespace], namespaced: true });
    for (const kind of [ClusterRole, ClusterRoleBinding]) {
      const { items } = await stage.client.list(kind as typeof ClusterRole);
      assert.deepEqual(
        items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith(operator.name)),
        [],
      );
    }
    for (const { text } of samplesOf(operator)) if (isStored(operator, text)) await stage.apply(text);
    await stage.advance(idle(120_000));
    for (let waits = 0; waits < 12 && (await converged(operator, stage)).length === 0; waits++) {
      await stage.advance(idle(60_000));
    }
    assert.notDeepEqual(await converged(operator, stage), [], "no sample has converged");
    assert.deepEqual(forbidden, []);
    assert.deepEqual(elsewhere, []);
    assert.ok(rendered.has("core.v1.PodSpec.containers"), "no pod was rendered");
  };
}

/** The samples of which the operator says that they are as requested. */
async function converged({ kinds }: Operator, { client, namespace }: TestEnvironment): Promise<string[]> {
  const names: string[] = [];
  for (const { group, version, kind, plural, namespaced } of kinds) {
    if (!namespaced) continue;
    const ref: KindRef<KubeObject> = { group, version, kind, plural, namespaced };
    for (const object of (await client.list(ref, { namespace })).items) {
      const { phase, state, conditions = [] } = (object as { status?: Status }).status ?? {};
      const ready = conditions.find(({ type }) => type === "Ready" || type === "Available" || type === "Succeeded");
      const word = phase ?? state;
      if (ready ? ready.status === "True" : word !== undefined && DONE.test(word))
        names.push(`${kind} ${keyOf(object)}`);
    }
  }
  return names;
}

const DONE = /^(ready|running|succeeded|complete|completed|available|successful|active)$/i;

interface Status {
  phase?: string;
  state?: string;
  conditions?: { type: string; status: string }[];
}

/** Without webhooks, other versions than the stored one cannot be converted. */
const isStored = ({ kinds }: Operator, text: string) =>
  !kinds.some(({ group, version, kind }) => {
    const versions = text.matchAll(new RegExp(`^apiVersion: ${group}/(\\w+)\\nkind: ${kind}$`, "gm"));
    return [...versions].some(([, used]) => used !== version);
  });
