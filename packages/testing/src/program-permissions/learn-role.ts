import type { Snapshot, User } from "@konverge/apiserver";
import { startCluster } from "@konverge/cluster";
import type { KubeObject } from "@konverge/core";
import { type RbacObject, rolesFor } from "@konverge/runtime";
import { type ObservedAccess, ProgramAccess } from "../black-box/program-access.ts";
import { type ProgramRun, type ProgramRunOptions, prepareScenario, runProgram } from "../black-box/program-run.ts";
import type { ProgramScenario } from "../black-box/scenario-file.ts";
import { permissionsToGrant, resourcesOf } from "./observed-permissions.ts";

/** Options of {@link learnRole}. */
export interface LearnRoleOptions extends Omit<ProgramRunOptions, "scenario" | "account" | "access" | "reached"> {
  /** What the program does in all of them is granted. */
  readonly scenarios: readonly ProgramScenario[];
  /** The name of the roles. Default: `learned`. */
  readonly name?: string;
  /** Called before each run, with what it is for. */
  onRun?(what: string): void;
}

/** What a program needs. */
export interface LearnedRole {
  /** Each permission with the request that shows it, in the order in which they were used first. */
  readonly permissions: readonly ObservedAccess[];
  readonly roles: readonly RbacObject[];
  /** The account that the roles are bound to. */
  readonly account: { readonly namespace: string; readonly name: string };
  /** Whether every scenario passed under exactly these roles, without a refused request. */
  readonly suffices: boolean;
  readonly runs: number;
}

/** A scenario that fails without any fault. */
export class ScenarioFailed extends Error {
  override readonly name = "ScenarioFailed";
  readonly code = "KONVERGE_SCENARIO_FAILED";
}

/** After this number of rounds in which something new was refused, the roles are returned as they are. */
const MOST_ROUNDS = 4;

/**
 * The least role with which a program in any language can do what it does in some scenarios: they are played with all permissions, and
 * then under the role that follows, until nothing is refused.
 */
export async function learnRole(options: LearnRoleOptions): Promise<LearnedRole> {
  const { scenarios, name = "learned" } = options;
  const account = { namespace: scenarios[0]!.namespace, name };
  const permissions = new Map<string, ObservedAccess>();
  const rolesNow = () =>
    rolesFor(
      [...permissions.values()].map(({ permission }) => permission),
      { name, serviceAccount: account },
    );
  let runs = 0;
  let suffices = false;
  for (let round = 0; round < MOST_ROUNDS && !suffices; round++) {
    const before = permissions.size;
    let refused = 0;
    for (const scenario of scenarios) {
      options.onRun?.(`${scenario.name}: ${round === 0 ? "with all permissions" : "under the learned role"}`);
      const access = new ProgramAccess();
      const roles = round === 0 ? [] : rolesNow();
      const state = await prepareScenario(withRoles(scenario, roles));
      const user = round === 0 ? {} : { account: userOf(account) };
      const run = await runProgram({ ...options, scenario, access, ...user }, state, PLAIN);
      runs++;
      if (round === 0 && !run.endState) throw new ScenarioFailed(failureText(scenario, run));
      refused += access.refused.size + (run.endState ? 0 : 1);
      for (const one of await granted(access.observed, scenario, state)) add(permissions, one);
    }
    suffices = round > 0 && refused === 0;
    if (round > 0 && permissions.size === before) break;
  }
  return { permissions: [...permissions.values()], roles: rolesNow(), account, suffices, runs };
}

/** A run without faults. */
export const PLAIN = { faults: [], seed: 1, worker: 0 } as const;

export function userOf({ namespace, name }: { readonly namespace: string; readonly name: string }): User {
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
  return { name: `system:serviceaccount:${namespace}:${name}`, groups };
}

/** A scenario that begins with these roles, and the namespaces that they are in. */
export function withRoles(scenario: ProgramScenario, roles: readonly KubeObject[]): ProgramScenario {
  const places = [...new Set(roles.flatMap(({ metadata }) => metadata.namespace ?? []))];
  const namespaces = places
    .filter((name) => name !== scenario.namespace)
    .map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }));
  return { ...scenario, setup: [...scenario.setup, ...namespaces, ...roles] };
}

export function failureText(scenario: ProgramScenario, { failure, exits, output }: ProgramRun): string {
  const last = (exits.at(-1)?.output || output).trim().split("\n").slice(-3).join("\n");
  return `the scenario ${scenario.name} fails although every request is allowed: ${failure?.message}; the program printed at last:\n${last}`;
}

async function granted(
  observed: readonly ObservedAccess[],
  { namespace }: ProgramScenario,
  state: Snapshot,
): Promise<ObservedAccess[]> {
  await using cluster = await startCluster({ parts: [], server: { state } });
  return permissionsToGrant(observed, namespace, await resourcesOf(cluster.client));
}

function add(permissions: Map<string, ObservedAccess>, one: ObservedAccess): void {
  const key = JSON.stringify(one.permission);
  if (!permissions.has(key)) permissions.set(key, one);
}
