import { Secret } from "@konverge/kinds";
import { externalSystem, type Program, type Scenario } from "@konverge/testing";
import { type App, app } from "../../lib/app.ts";
import { live } from "../../lib/members.ts";
import type { Reconciliation } from "../../lib/reconciler.ts";
import { ownedBy, reaches, tolerant } from "../../lib/steps.ts";

/** A database: its password is that of its first start, until it is changed. */
class Database {
  password: string | undefined;

  async start(password: string): Promise<void> {
    this.password ??= password;
  }

  async changePassword(password: string): Promise<void> {
    this.password = password;
  }

  accepts(password: string): boolean {
    return password === this.password;
  }
}

export const database = externalSystem(() => new Database(), { name: "database" });

/** An App has a database, and logs in. */
export const loggedIn =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.apply(app("a"));
    await reaches(environment, "a", "Ready");
    await environment.until("the App can log in", async () => {
      const secret = await environment.find(Secret, "a-database");
      return secret !== undefined && database.accepts(passwordIn(secret));
    });
  };

/** The password of an App's database: that in its Secret, or a new one. */
export async function password(context: Reconciliation, app: App): Promise<string> {
  const { client, clock, namespace } = context;
  const name = `${app.metadata.name}-database`;
  const found = await live(context, Secret, name);
  if (found) return passwordIn(found);
  const metadata = { name, namespace, labels: { app: app.metadata.name }, ...ownedBy(app) };
  const made = Secret.draft({ metadata, data: { password: btoa(clock.random.uuid()) } });
  await tolerant(client.create(Secret, made));
  const created = await client.get(Secret, `${namespace}/${name}`);
  return passwordIn(created);
}

function passwordIn({ data }: Secret): string {
  return atob(data?.["password"] ?? "");
}
