import { Metrics, type Operator, operatorPermissions, type Permission, silentLog } from "@konverge/runtime";
import { createParts } from "./operator-parts.ts";
import { type SettingSources, settingsOf } from "./settings.ts";

/** The permissions that an operator's controllers declare, without webhooks. */
export function declaredPermissions(operator: Operator, sources: SettingSources): readonly Permission[] {
  const { registry } = new Metrics({ process: false });
  const settings = settingsOf(operator, sources);
  return operatorPermissions(operator, createParts(operator, { metrics: registry, settings, log: silentLog }), {
    operatorNamespace: "default",
    webhookRegistration: "none",
  });
}
