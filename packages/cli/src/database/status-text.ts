import { tableText } from "../embedded/table-text.ts";
import type { DatabaseObject } from "./database-objects.ts";

/** A Database for a person: who leads, how servers are, what can be restored, and what is not as requested. */
export function statusText({ metadata, status = {} }: DatabaseObject): string {
  const ready = status.conditions?.find(({ type }) => type === "Ready");
  const facts: [string, string | undefined][] = [
    ["Database", `${metadata.namespace}/${metadata.name}`],
    ["Phase", status.phase ?? "not reconciled yet"],
    ["Ready", ready && [ready.status, ready.reason, ready.message && `(${ready.message})`].filter(Boolean).join(" ")],
    ["Version", status.version && `${status.engine ?? ""} ${status.version}`.trim()],
    ["Primary", primaryText(status)],
    ["Endpoint", status.endpoint],
    ["Last backup", status.lastBackupTime],
    ["Recoverable", recoverableText(status)],
  ];
  const known = facts.filter((fact): fact is [string, string] => fact[1] !== undefined);
  const width = Math.max(...known.map(([name]) => name.length)) + 3;
  const lines = known.map(([name, value]) => `${name.padEnd(width)}${value}`);
  return [lines.join("\n"), ...tables(status)].join("\n\n");
}

type Status = NonNullable<DatabaseObject["status"]>;

function primaryText({ currentPrimary, podName, term, timeline }: Status): string | undefined {
  if (currentPrimary === undefined && podName === undefined) return undefined;
  const details = [term !== undefined && `term ${term}`, timeline !== undefined && `timeline ${timeline}`].filter(
    Boolean,
  );
  const where = details.length > 0 ? ` (${details.join(", ")})` : "";
  return `${currentPrimary ?? "none accepts writes"}${where}`;
}

function recoverableText({ firstRecoverable, lastRecoverable, gaps = [] }: Status): string | undefined {
  if (firstRecoverable === undefined) return undefined;
  const without = gaps.map(({ from, to }) => `${from} to ${to ?? "the next backup"}`);
  return `${firstRecoverable} to ${lastRecoverable ?? "now"}${without.length > 0 ? `, without ${without.join(", ")}` : ""}`;
}

function tables({ servers = [], roles = [], databases = [], conditions = [] }: Status): string[] {
  const rows = servers.map((one) => [
    ...[one.name, one.role, one.ready, one.node],
    one.behindSeconds === undefined ? "-" : `${one.behindSeconds}s`,
    one.usedPercent === undefined ? "-" : `${one.usedPercent}%`,
  ]);
  const declared = [
    ...roles.map((one) => ["role", one.name, one.state, one.message ?? ""]),
    ...databases.map((one) => ["database", one.name, one.state, one.message ?? ""]),
  ];
  const others = conditions.filter(({ type }) => type !== "Ready");
  return [
    ...(rows.length > 0 ? [tableText(["server", "role", "ready", "node", "lag", "used"], rows)] : []),
    ...(declared.length > 0 ? [tableText(["kind", "name", "state", "message"], declared)] : []),
    ...(others.length > 0
      ? [
          tableText(
            ["condition", "status", "reason", "message"],
            others.map(({ type, status, reason, message }) => [type, status, reason, message ?? ""]),
          ),
        ]
      : []),
  ];
}
