const UNITS: Readonly<Record<string, number>> = {
  b: 512,
  k: 2 ** 10,
  K: 2 ** 10,
  M: 2 ** 20,
  G: 2 ** 30,
  T: 2 ** 40,
  kB: 1e3,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
};

/** A number as commands are given it: `10`, `64k`, `10G`. NaN when it is not a number. */
export function sizeOf(text: string): number {
  const [, number, unit = ""] = /^(\d+)([a-zA-Z]{0,2})$/.exec(text) ?? [];
  if (number === undefined) return Number.NaN;
  return unit === "" ? Number(number) : Number(number) * (UNITS[unit] ?? Number.NaN);
}
