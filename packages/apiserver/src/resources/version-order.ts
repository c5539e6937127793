/** Kubernetes' order of preference: stable before beta before alpha, newer first, then anything else by name. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [rank(a), rank(b)];
  if (!left || !right) return left ? -1 : right ? 1 : a < b ? -1 : a > b ? 1 : 0;
  return right.level - left.level || right.major - left.major || right.minor - left.minor;
}

function rank(version: string): { level: number; major: number; minor: number } | undefined {
  const match = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/.exec(version);
  if (!match) return undefined;
  const level = match[2] === undefined ? 2 : match[2] === "beta" ? 1 : 0;
  return { level, major: Number(match[1]), minor: Number(match[3] ?? 0) };
}
