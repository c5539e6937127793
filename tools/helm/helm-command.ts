import { join } from "node:path";
import { engineCache, HELM_VERSION } from "@konverge/declarative/helm-engine";

/** The `helm` command of the version whose engine renders: `npm run helm:build -- --helm` builds it. */
export function helmCommand(): string {
  return join(engineCache(), `helm-${HELM_VERSION}`);
}
