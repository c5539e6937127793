/**
 * Calls `stop` when the process that started this one is gone: one that was killed cannot stop what it started. (Windows keeps
 * the number of a parent that is gone, and nothing happens.)
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
