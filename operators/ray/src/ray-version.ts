/** Whether a version of Ray is older than another. One that is not a version, such as `nightly`, counts as older. */
export function isOlder(version: string, than: string): boolean {
  const [left, right] = [numbersOf(version), numbersOf(than)];
  if (!left) return true;
  const index = right!.findIndex((number, i) => number !== (left[i] ?? 0));
  return index >= 0 && (left[index] ?? 0) < right![index]!;
}

const numbersOf = (version: string) => /^v?(\d+(?:\.\d+)*)/.exec(version)?.[1]?.split(".").map(Number);
