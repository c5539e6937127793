import { readdirSync, readFileSync } from "node:fs";

/** What processes have used so far, together. */
export interface Usage {
  cpuSeconds: number;
  residentBytes: number;
  /** The sum of each process's own peak. */
  peakBytes: number;
}

/** Ticks of /proc/PID/stat in a second: Linux has them at 100 everywhere. */
const TICKS = 100;

/** What processes have used, as Linux counts it. */
export function usageOf(pids: readonly number[]): Usage {
  const usage: Usage = { cpuSeconds: 0, residentBytes: 0, peakBytes: 0 };
  for (const pid of pids) {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in brackets may hold anything; what follows the last bracket does not.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    usage.cpuSeconds += (Number(fields[11]) + Number(fields[12])) / TICKS;
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const bytes = (name: string) => Number(new RegExp(`${name}:\\s+([0-9]+) kB`).exec(status)?.[1] ?? 0) * 1024;
    usage.residentBytes += bytes("VmRSS");
    usage.peakBytes += bytes("VmHWM");
  }
  return usage;
}

/** Whether a thread of a process runs or waits for a core. */
export function isRunnable(pid: number): boolean {
  return readdirSync(`/proc/${pid}/task`).some((thread) => {
    try {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8");
      return stat.charAt(stat.lastIndexOf(")") + 2) === "R";
    } catch {
      return false; // The thread has ended.
    }
  });
}

/** CPU seconds of the processes that this one has started and that have ended, with theirs. */
export function endedCpuSeconds(): number {
  const stat = readFileSync("/proc/self/stat", "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[13]) + Number(fields[14])) / TICKS;
}

/** The processes that were started with a text in their arguments: those of a control plane have its folder there. */
export function processesWith(text: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return pid !== process.pid && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(text);
      } catch {
        return false;
      }
    });
}
