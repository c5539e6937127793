import type { Client } from "@konverge/client";
import { Deployment } from "@konverge/kinds";
import {
  checkPermissions,
  MissingPermissionError,
  type Operator,
  operatorPermissions,
  policyRules,
} from "@konverge/runtime";
import { partsOf } from "../manifests/operator-objects.ts";
import { listed } from "./examined-objects.ts";
import type { Finding } from "./finding.ts";

/** What operators of the project need that the service accounts of their Deployments may not do. */
export async function permissionFindings(client: Client, operators: readonly Operator[]): Promise<Finding[]> {
  if (operators.length === 0) return [];
  const findings: Finding[] = [];
  const deployments = await listed(client, Deployment);
  for (const operator of operators) {
    for (const { metadata, spec } of deployments.filter((one) => one.metadata.name === operator.name)) {
      const namespace = metadata.namespace ?? "default";
      const account = spec?.template?.spec?.serviceAccountName ?? "default";
      const args = spec?.template?.spec?.containers.flatMap((container) => container.args ?? []) ?? [];
      const isUnregistered = args.some((arg) => /^--(webhook-certificates=|webhooks=off$)/.test(arg));
      const namespaces = args
        .find((arg) => arg.startsWith("--namespaced="))
        ?.slice("--namespaced=".length)
        .split(",");
      const needed = operatorPermissions(operator, partsOf(operator), {
        operatorNamespace: namespace,
        ...(isUnregistered && { webhookRegistration: "none" }),
        ...(namespaces && { namespaces, namespaced: true }),
      });
      const user = `system:serviceaccount:${namespace}:${account}`;
      const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
      try {
        await checkPermissions(client.as({ user, groups }), needed);
      } catch (error) {
        if (!(error instanceof MissingPermissionError)) throw error;
        const rules = policyRules(error.missing).map((rule) => JSON.stringify(rule));
        findings.push({
          check: "permissions",
          object: `ServiceAccount ${namespace}/${account}`,
          problem: `${operator.name} needs rules that it does not have: ${rules.join(", ")}`,
          fix: `Apply the generated roles: npx konverge manifests writes them, npx konverge deploy --namespace ${namespace} applies them.`,
        });
      }
    }
  }
  return findings;
}
