import { Deployment } from "@konverge/kinds";
import { reconciler } from "../../lib/reconciler.ts";
import { run, running, SETTINGS } from "./scenario.ts";

// Each process has its own order of the settings, so each restart of the operator replaces all pods (keycloak/keycloak#19725).
export const scenario = running(
  reconciler({
    watches: [Deployment],
    create: () => {
      let order: [string, string][] | undefined;
      return async (_name, app, context) => {
        if (!app) return;
        order ??= startingWith(Object.entries(SETTINGS), context.clock.random.below(5));
        await run(context, app, order);
      };
    },
  }),
);

/** The same entries, as a map yields them whose order is chance. */
function startingWith<T>(entries: readonly T[], first: number): T[] {
  return [...entries.slice(first), ...entries.slice(0, first)];
}
