import type { AdmissionPluginOptions } from "@konverge/apiserver";
import type { ControlPlaneComponent } from "../parts/part.ts";
import { serviceAccounts } from "./service-accounts.ts";

const PLUGIN = "ServiceAccount";

/**
 * The admission plugins of a cluster: those of the server, and ServiceAccount where the controller is at work that gives
 * every namespace its default account. Without that controller no pod could be created.
 */
export function accountAdmission(
  parts: readonly ControlPlaneComponent[],
  { enable = [], disable = [] }: AdmissionPluginOptions = {},
): AdmissionPluginOptions {
  if (disable.includes(PLUGIN) || !parts.includes(serviceAccounts)) return { enable, disable };
  return { enable: [...enable, PLUGIN], disable };
}
