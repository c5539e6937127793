import { type Conditions, conditionFalse, conditionTrue } from "konverge";
import type { Secret } from "konverge/kinds";
import type { Database } from "./database.ts";
import { type DeclaredContext, declaredDigest, passwordProblem } from "./declared.ts";
import type { DeclaredProblem, ServerReport } from "./server-report.ts";

type Status = NonNullable<Database["status"]>;
type Declared = NonNullable<Status["roles"]>[number];

/** The outcomes for declared roles and databases. */
export interface DeclaredFindings {
  readonly roles: readonly Declared[];
  readonly databases: readonly Declared[];
}

export const ROLES = "RolesAsRequested";
export const DATABASES = "DatabasesAsRequested";

/** The outcomes, as the primary reports them of this file; what it does not report yet is pending. */
export function declaredFindings(
  database: Database,
  {
    secret,
    secretOf,
    leader,
  }: {
    readonly secret: Secret | undefined;
    readonly secretOf: DeclaredContext["secretOf"];
    readonly leader: ServerReport | undefined;
  },
): DeclaredFindings {
  const { roles = [], databases = [] } = database.spec;
  const isCarriedOut = leader?.declared !== undefined && leader.declared === declaredDigest(secret);
  const stateOf = (kind: DeclaredProblem["kind"], name: string, before: readonly Declared[] | undefined): Declared => {
    const problems = leader?.declaredProblems?.filter((one) => one.kind === kind && one.name === name) ?? [];
    const message = problems.map((problem) => problem.message).join("; ");
    if (isCarriedOut) return message ? { name, state: "Failed", message } : { name, state: "Applied" };
    const known = before?.find((one) => one.name === name);
    // Without an answer of the primary, what is known stays.
    return leader?.declared === undefined && known ? known : { name, state: "Pending" };
  };
  const { roles: rolesBefore, databases: databasesBefore } = database.status ?? {};
  return {
    roles: roles.map((role) => {
      const problem = role.ensure === "present" ? passwordProblem(role, secretOf) : undefined;
      if (problem !== undefined) return { name: role.name, state: "Failed", message: problem };
      return stateOf("role", role.name, rolesBefore);
    }),
    databases: databases.map(({ name }) => stateOf("database", name, databasesBefore)),
  };
}

export function declaredConditions({ roles, databases }: DeclaredFindings): Conditions {
  return { [ROLES]: conditionOf(roles), [DATABASES]: conditionOf(databases) };
}

function conditionOf(all: readonly Declared[]): Conditions[string] {
  if (all.length === 0) return undefined;
  const failed = all.filter(({ state }) => state === "Failed");
  if (failed.length > 0) {
    const texts = failed.map(({ name, message }) => `${name}: ${message}`);
    return conditionFalse("Failed", texts.join("; ").slice(0, 2_000));
  }
  const pending = all.filter(({ state }) => state === "Pending").map(({ name }) => name);
  if (pending.length > 0) return conditionFalse("Applying", `not applied yet: ${pending.join(", ")}`.slice(0, 2_000));
  return conditionTrue("AsRequested");
}
