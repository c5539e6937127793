import type { Pod } from "konverge/kinds";

/** The report of a task: values by name. `error` is its error message. */
export type TaskReport = Readonly<Record<string, string>>;

/** The report in the termination message of a task's pod, or of the last of several that have finished. */
export function taskReport(pods: readonly Pod[]): TaskReport {
  const ended = pods
    .flatMap((pod) => pod.status?.containerStatuses ?? [])
    .flatMap(({ state }) => state?.terminated ?? [])
    .sort((a, b) => (a.finishedAt ?? "").localeCompare(b.finishedAt ?? ""));
  const last = ended.at(-1);
  return last ? parseTaskReport(last.message ?? "", last.exitCode) : {};
}

/** Reads lines of name=value. Without a report, the last line of the log is the error. */
export function parseTaskReport(message: string, exitCode: number): TaskReport {
  const report: Record<string, string> = {};
  for (const line of message.split("\n")) {
    const [, name, value] = /^([A-Za-z]+)=(.*)$/.exec(line) ?? [];
    if (name && value) report[name] = value;
  }
  if (exitCode !== 0 && report["error"] === undefined) {
    const said = message.trim().split("\n").at(-1);
    report["error"] = said ? said : `the script exited with code ${exitCode}`;
  }
  return report;
}
