import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

/**
 * The value, replaced at most once in `ms`, unless `key` is another: what is drawn from thousands of entries need not follow
 * each of them.
 */
export function useThrottled<T>(value: T, key: string, ms: number): T {
  const held = useRef({ value, key, at: performance.now() });
  const again = useSignal(0);
  again.value;
  const { current } = held;
  const now = performance.now();
  const isDue = current.key !== key || now - current.at >= ms;
  if (isDue) held.current = { value, key, at: now };
  const isLate = held.current.value !== value;
  useEffect(() => {
    if (!isLate) return;
    const timer = setTimeout(() => again.value++, held.current.at + ms - performance.now());
    return () => clearTimeout(timer);
  });
  return held.current.value;
}
