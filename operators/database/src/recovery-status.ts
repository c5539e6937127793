import { type Conditions, conditionFalse, conditionTrue, findCondition } from "konverge";
import type { Database } from "./database.ts";
import type { Member } from "./leadership.ts";
import { type RecoveryWindow, recoveryWindow } from "./recovery-window.ts";
import { isArchived } from "./wal-archive.ts";

/** The condition that reports whether the whole recovery window can be restored. */
export const RECOVERABLE = "Recoverable";

/** Milliseconds by which the end of the window must have moved before that is worth a write. */
const STEP = 60_000;

/** The recoverable window of a database as its primary reports it now: undefined if that is not known. */
export function reportedWindow(
  members: readonly Member[],
): { readonly window: RecoveryWindow | undefined } | undefined {
  const facts = members.find(({ report }) => report?.role === "primary")?.report?.archive;
  return facts && { window: recoveryWindow(facts) };
}

type Status = NonNullable<Database["status"]>;
type Reported = Pick<Status, "firstRecoverable" | "lastRecoverable" | "gaps">;

/** What the status reports about the window. What is unknown now stays as last reported. */
export function windowStatus(database: Database, members: readonly Member[]): Reported {
  if (!isArchived(database)) return {};
  const { firstRecoverable, lastRecoverable, gaps } = database.status ?? {};
  const known = reportedWindow(members);
  if (!known) {
    return {
      ...(firstRecoverable && { firstRecoverable }),
      ...(lastRecoverable && { lastRecoverable }),
      ...(gaps && { gaps }),
    };
  }
  const { window } = known;
  if (!window) return {};
  const moved = window.last - Date.parse(lastRecoverable ?? "");
  return {
    firstRecoverable: time(window.first),
    lastRecoverable: lastRecoverable && moved >= 0 && moved < STEP ? lastRecoverable : time(window.last),
    ...(window.gaps.length > 0 && {
      gaps: window.gaps.map(({ from, to, ...segments }) => ({
        from: time(from),
        ...(to !== undefined && { to: time(to) }),
        ...segments,
      })),
    }),
  };
}

const time = (ms: number) => new Date(ms).toISOString();

/** Whether everything since the first recoverable time can be restored; gaps before the last backup are only mentioned. */
export function recoverableCondition(database: Database, members: readonly Member[]): Conditions {
  if (!isArchived(database)) return { [RECOVERABLE]: undefined };
  const known = reportedWindow(members);
  if (!known) {
    const before = findCondition(database.status?.conditions, RECOVERABLE);
    return { [RECOVERABLE]: before && { status: before.status, reason: before.reason, message: before.message } };
  }
  const { window } = known;
  if (!window)
    return { [RECOVERABLE]: conditionFalse("NoBackup", "there is no base backup yet: create a DatabaseBackup") };
  const open = window.gaps.find(({ to }) => to === undefined);
  if (open) {
    const { from, firstSegment, lastSegment } = open;
    const message =
      `WAL segments ${firstSegment} to ${lastSegment} are missing in the archive: nothing after ${time(from)} can be restored ` +
      "until the next base backup, which is taken automatically";
    return { [RECOVERABLE]: conditionFalse("WALMissing", message) };
  }
  if (window.gaps.length === 0) return { [RECOVERABLE]: conditionTrue("Continuous") };
  const spans = window.gaps.map(({ from, to }) => `${time(from)} to ${time(to!)}`).join(", ");
  return { [RECOVERABLE]: conditionTrue("GapsBeforeLastBackup", `these times cannot be restored: ${spans}`) };
}
