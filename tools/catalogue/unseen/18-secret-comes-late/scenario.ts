import { Secret } from "@konverge/kinds";
import type { Program, Scenario } from "@konverge/testing";
import { App, type App as Application, app } from "../../lib/app.ts";
import { live } from "../../lib/members.ts";
import type { Reconciliation } from "../../lib/reconciler.ts";

/** An App refers to a Secret with credentials. */
export const withCredentials =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.apply({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "a-credentials", labels: { app: "a" } },
      stringData: { token: "example" },
    });
    await environment.apply(app("a"));
    await environment.until("a has its credentials", async () => {
      const { status } = await environment.get(App, "a");
      return status?.phase === "Programmed";
    });
  };

/** What an App reports of its credentials, and whether it is programmed. */
export async function report(context: Reconciliation, app: Application, isValid?: boolean): Promise<void> {
  const { client, namespace } = context;
  const { name } = app.metadata;
  const reason = isValid ? "Valid" : "NotFound";
  const conditions = [{ type: "SecretRefValid", status: isValid ? "True" : "False", reason }];
  const phase = (await live(context, Secret, `${name}-credentials`)) ? "Programmed" : "Waiting";
  const [before] = app.status?.conditions ?? [];
  const isSame = isValid === undefined || before?.reason === reason;
  if (isSame && app.status?.phase === phase) return;
  const status = { phase, ...(isValid !== undefined && { conditions }) };
  await client.patchStatus(App, `${namespace}/${name}`, { merge: { status } });
}
