import type { TestBrowser } from "@konverge/console/chromium";

/** Milliseconds between frames, the share of the 60 per second that were not drawn, and the number of long tasks. */
export interface Frames {
  readonly p50: number;
  readonly p95: number;
  readonly dropped: number;
  readonly longTasks: number;
}

/** Measures frames in the page, which draws what it is sent meanwhile. */
export function measureFrames(page: TestBrowser["page"], seconds: number): Promise<Frames> {
  return page.evaluate(async (duration) => {
    let longTasks = 0;
    const observer = new PerformanceObserver((list) => {
      longTasks += list.getEntries().length;
    });
    observer.observe({ entryTypes: ["longtask"] as never });
    const times: number[] = [];
    await new Promise<void>((resolve) => {
      const started = performance.now();
      const frame = (now: number) => {
        times.push(now);
        if (now - started > duration * 1000) resolve();
        else requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
    });
    observer.disconnect();
    const sorted = times
      .slice(1)
      .map((time, i) => time - times[i]!)
      .sort((a, b) => a - b);
    const at = (part: number) => sorted[Math.floor(sorted.length * part)] ?? 0;
    const expected = (times.at(-1)! - times[0]!) / (1000 / 60);
    return { p50: at(0.5), p95: at(0.95), dropped: Math.max(0, 1 - sorted.length / expected), longTasks };
  }, seconds);
}

/** Code in `evaluate` runs in the page. */
declare function requestAnimationFrame(callback: (now: number) => void): void;
