import { type Conditions, conditionFalse, conditionTrue } from "konverge";
import type { Database } from "./database.ts";
import { isServing, type Member } from "./leadership.ts";
import { parameterErrors } from "./parameter-rules.ts";
import { answersQueries } from "./server-report.ts";
import type { Topology } from "./topology.ts";

/** What brings changed parameters to servers: they reload what they can, and restart one after the other for the rest. */
export type ParameterStep =
  | { readonly step: "none" }
  /** Servers have not read the configuration yet. */
  | { readonly step: "load"; readonly names: readonly string[] }
  /** Servers do not accept it: with it, none of them would start. */
  | { readonly step: "reject"; readonly parameters: readonly string[] }
  | { readonly step: "wait"; readonly pending: Pending }
  | { readonly step: "restart"; readonly name: string; readonly pending: Pending };

/** Parameters that wait for a restart, by server. PostgreSQL itself names them: those of the context `postmaster` that differ. */
export type Pending = ReadonlyMap<string, readonly string[]>;

/** Milliseconds after which a restart that has not happened is requested again. */
const RESTART_PATIENCE = 10 * 60_000;

/**
 * Standbys restart first, the highest number first, each when all others serve; then the primary, in place. Limits that a standby
 * must have at least as high as its primary are lowered in the opposite order by the same rule: a standby does not wait for a
 * restart to lower one until its primary has done so (`server-parameters.sh`).
 */
export function parameterStep(members: readonly Member[], primary: string, configuration: string): ParameterStep {
  const reports = members.flatMap(({ name, report }) =>
    report && answersQueries(report) ? [{ name, ...report }] : [],
  );
  const rejected = new Set(reports.flatMap((report) => report.rejected ?? []));
  if (rejected.size > 0) return { step: "reject", parameters: [...rejected].sort() };
  const late = reports.filter((report) => report.configuration !== undefined && report.configuration !== configuration);
  if (late.length > 0) return { step: "load", names: late.map(({ name }) => name) };
  const entries = reports.map(({ name, pendingRestart = [] }) => [name, pendingRestart] as const);
  const pending: Pending = new Map(entries.filter(([, parameters]) => parameters.length > 0));
  if (pending.size === 0) return { step: "none" };
  const areWell = members.every((one) => isServing(one) && (one.name === primary || one.report?.streaming === true));
  if (!areWell) return { step: "wait", pending };
  const next = [...pending.keys()].findLast((name) => name !== primary) ?? primary;
  return { step: "restart", name: next, pending };
}

/** The topology with the restart that is due, if any; one that is in progress stays until its server answers again. */
export function withRestart(topology: Topology, due: ParameterStep, members: readonly Member[], now: number): Topology {
  const { restart: current, ...rest } = topology;
  const report = members.find(({ name }) => name === current?.name)?.report;
  const hasRestarted = answersQueries(report) && report?.restarted === current?.since;
  if (current && !hasRestarted && now - current.since < RESTART_PATIENCE) return topology;
  if (due.step !== "restart") return current ? rest : topology;
  return { ...rest, restart: { name: due.name, since: now } };
}

/** What is pending of the requested parameters, and which of them servers do not get. */
export function parametersCondition(database: Database, step: ParameterStep): Conditions[string] {
  const [refused] = parameterErrors(database);
  if (refused) return conditionFalse("Refused", `${refused.field} ${refused.message}; servers run without it`);
  switch (step.step) {
    case "none":
      return conditionTrue("AsRequested");
    case "load":
      return conditionFalse("Loading", `not read yet by ${step.names.join(", ")}`);
    case "reject":
      return conditionFalse(
        "Rejected",
        `the server does not accept ${step.parameters.join(", ")}: correct or remove them in spec.parameters; until then servers ` +
          "keep the values they have, and a server that stops does not start again",
      );
    default:
      return conditionFalse("RestartPending", pendingMessage(step.pending));
  }
}

function pendingMessage(pending: Pending): string {
  const parts = [...pending].map(([name, parameters]) => `${name}: ${parameters.join(", ")}`);
  return `servers restart one at a time for parameters that a reload does not change: ${parts.join("; ")}`;
}
