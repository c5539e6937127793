import { Option } from "commander";
import { WEBHOOK_AUTHORITIES } from "../manifests/webhook-authority.ts";

/** Who sets the CA in the registrations of webhooks. */
export function webhookCaOption(): Option {
  return new Option(
    "--webhook-ca <who>",
    "who sets the CA of webhooks; cert-manager: its injector, and the operator has no permission on its registrations",
  )
    .choices(WEBHOOK_AUTHORITIES)
    .default("operator");
}
