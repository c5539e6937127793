import { type Cluster, startCluster } from "@konverge/cluster";
import { SubjectAccessReview } from "@konverge/kinds/authorization.v1";
import { type ObservedAccess, ProgramAccess } from "../black-box/program-access.ts";
import { prepareScenario, runProgram } from "../black-box/program-run.ts";
import { type LearnedRole, type LearnRoleOptions, learnRole, PLAIN, userOf, withRoles } from "./learn-role.ts";
import { resourcesOf } from "./observed-permissions.ts";
import type { ShippedRole } from "./shipped-role.ts";
import { type UnusedGrant, unusedGrants } from "./unused-grants.ts";

/** How a shipped role compares with what a program does. */
export interface RoleCheck {
  readonly learned: LearnedRole;
  /** Used, but not granted, each with the request that shows it. */
  readonly missing: readonly ObservedAccess[];
  readonly unused: readonly UnusedGrant[];
  /** What happened in each scenario under the shipped role. */
  readonly underRole: readonly RunUnderRole[];
}

export interface RunUnderRole {
  readonly scenario: string;
  /** How often each permission was refused, by its text. */
  readonly refused: ReadonlyMap<string, number>;
  /** Why the scenario failed; undefined if it passed. */
  readonly failure?: string;
}

/** Compares the role that an operator is published with with what it does in the scenarios, and plays them under that role. */
export async function checkRole(shipped: ShippedRole, options: LearnRoleOptions): Promise<RoleCheck> {
  const learned = await learnRole(options);
  const used = learned.permissions.map(({ permission }) => permission);
  const missing: ObservedAccess[] = [];
  let unused: UnusedGrant[] = [];
  const underRole: RunUnderRole[] = [];
  for (const [i, scenario] of options.scenarios.entries()) {
    const state = await prepareScenario(withRoles(scenario, shipped.objects));
    if (i === 0) {
      await using cluster = await startCluster({ parts: [], server: { state } });
      for (const one of learned.permissions) if (!(await isGranted(cluster, shipped, one))) missing.push(one);
      unused = unusedGrants(shipped.rules, used, await resourcesOf(cluster.client));
    }
    options.onRun?.(`${scenario.name}: under the role of the files`);
    const access = new ProgramAccess();
    const run = await runProgram({ ...options, scenario, access, account: userOf(shipped.account) }, state, PLAIN);
    underRole.push({
      scenario: scenario.name,
      refused: access.refused,
      ...(run.failure && { failure: run.failure.message }),
    });
  }
  return { learned, missing, unused, underRole };
}

async function isGranted(cluster: Cluster, { account }: ShippedRole, { permission }: ObservedAccess): Promise<boolean> {
  const { name: user, groups } = userOf(account);
  const { verb, group, resource: full, namespace = "", name = "" } = permission;
  const [resource = "", subresource = ""] = full.split("/");
  const resourceAttributes = { verb, group, resource, subresource, namespace, name };
  const spec = { user, groups: [...groups], resourceAttributes };
  const { status } = await cluster.client.create(SubjectAccessReview, { metadata: {}, spec });
  return status?.allowed === true;
}
