import { Option } from "commander";
import { checkedName } from "../checked-name.ts";
import { WEBHOOK_AUTHORITIES } from "../manifests/webhook-authority.ts";

/** Who sets the CA in the registrations of webhooks. */
export function webhookCaOption(): Option {
  return new Option(
    "--webhook-ca <who>",
    "who sets the CA of webhooks: the operator, cert-manager's injector, or none to install no webhooks (default: operator; none with --namespaced)",
  ).choices(WEBHOOK_AUTHORITIES);
}

/** Roles instead of ClusterRoles. */
export const NAMESPACED_OPTION = [
  "--namespaced <names...>",
  "only these namespaces, with Roles and RoleBindings instead of ClusterRoles (default: all)",
  (names: string, before: readonly string[] = []): readonly string[] => [
    ...before,
    ...names.split(",").map((one) => checkedName(one.trim(), "namespace")),
  ],
] as const;
