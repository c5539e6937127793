import assert from "node:assert/strict";
import { renderedFields, type Scenario, supplyVolumes } from "@konverge/operator-suite";
import { samplesOf } from "@konverge/operators";
import type { Operator } from "konverge";
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
    assert.deepEqual(forbidden, []);
    assert.deepEqual(elsewhere, []);
    assert.ok(rendered.has("core.v1.PodSpec.containers"), "no pod was rendered");
  };
}

/** Without webhooks, other versions than the stored one cannot be converted. */
const isStored = ({ kinds }: Operator, text: string) =>
  !kinds.some(({ group, version, kind }) => {
    const versions = text.matchAll(new RegExp(`^apiVersion: ${group}/(\\w+)\\nkind: ${kind}$`, "gm"));
    return [...versions].some(([, used]) => used !== version);
  });
