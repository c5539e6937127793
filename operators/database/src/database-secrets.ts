import type { ReconcileContext } from "konverge";
import { Secret } from "konverge/kinds";
import { applicationSecretFor } from "./application.ts";
import { credentialsFor } from "./credentials.ts";
import type { Database } from "./database.ts";
import type { DatabaseSteps } from "./database-steps.ts";
import { declaredSecretFor } from "./declared.ts";
import { applicationSecretName, declaredName } from "./names.ts";
import { leadingReport, type ObservedDatabase } from "./observed-database.ts";
import { sourceSecret } from "./replica.ts";

/** The Secrets of a Database, and those that it reads. */
export interface DatabaseSecrets {
  readonly credentials: ReturnType<typeof credentialsFor>;
  readonly application: ReturnType<typeof applicationSecretFor>[number] | undefined;
  /** What the primary carries out: roles with their passwords, and databases. */
  readonly declared: ReturnType<typeof declaredSecretFor>[number] | undefined;
  /** That of the Database that it follows. */
  readonly source: Secret | undefined;
  /** A Secret of the same namespace, by its name. */
  readonly secretOf: (name: string) => Secret | undefined;
}

export function databaseSecrets(
  database: Database,
  { engine, credentials: live, members }: ObservedDatabase,
  { step }: DatabaseSteps,
  { cache, clock }: ReconcileContext,
): DatabaseSecrets {
  const { secrets } = clock;
  const secretOf = (name: string) => cache.get(Secret, `${database.metadata.namespace}/${name}`);
  const source = sourceSecret(database, step.topology, secretOf);
  const [declared] = declaredSecretFor(database, { live: secretOf(declaredName(database)), secretOf, secrets });
  const [application] = applicationSecretFor(database, engine, {
    live: secretOf(applicationSecretName(database)),
    secrets,
  });
  const reportedDigest = leadingReport(members)?.password;
  const now = clock.now();
  const credentials = credentialsFor(database, engine, { live, secrets, now, reportedDigest, application, source });
  return { credentials, application, declared, source, secretOf };
}
