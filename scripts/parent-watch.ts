/**
 * Calls `stop` when the process that started this one has ended: one that was killed cannot stop what it started. (Windows keeps
 * the number of a parent that has ended, and nothing happens.)
 */
export function whenParentDies(stop: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    stop();
  }, 1000);
  timer.unref();
}
