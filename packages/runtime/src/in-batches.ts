import { inParallel } from "./in-parallel.ts";

/**
 * Calls `work` for each item in batches of 1, 2, 4 and so on up to `limit` at a time, until `isStopped`. Returns the
 * items that it was not called for. What a quota refuses is refused a few times then, not once for each item.
 */
export async function inBatches<T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
  isStopped: () => boolean,
): Promise<readonly T[]> {
  let done = 0;
  for (let size = 1; done < items.length && !isStopped(); size = Math.min(2 * size, limit)) {
    await inParallel(items.slice(done, done + size), size, work);
    done += size;
  }
  return items.slice(done);
}
