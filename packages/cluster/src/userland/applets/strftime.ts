const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = "January February March April May June July August September October November December".split(" ");

/** A time (milliseconds since 1970) as `date +FORMAT` writes it, in UTC. */
export function strftime(format: string, ms: number): string {
  const date = new Date(ms);
  const two = (value: number) => String(value).padStart(2, "0");
  const hour = date.getUTCHours();
  const values: Record<string, () => string> = {
    Y: () => String(date.getUTCFullYear()),
    y: () => two(date.getUTCFullYear() % 100),
    m: () => two(date.getUTCMonth() + 1),
    d: () => two(date.getUTCDate()),
    e: () => String(date.getUTCDate()).padStart(2),
    H: () => two(hour),
    I: () => two(hour % 12 || 12),
    M: () => two(date.getUTCMinutes()),
    S: () => two(date.getUTCSeconds()),
    N: () => String(date.getUTCMilliseconds() * 1_000_000).padStart(9, "0"),
    a: () => DAYS[date.getUTCDay()]!.slice(0, 3),
    A: () => DAYS[date.getUTCDay()]!,
    b: () => MONTHS[date.getUTCMonth()]!.slice(0, 3),
    B: () => MONTHS[date.getUTCMonth()]!,
    s: () => String(Math.floor(ms / 1000)),
    Z: () => "UTC",
    z: () => "+0000",
    p: () => (hour < 12 ? "AM" : "PM"),
    F: () => date.toISOString().slice(0, 10),
    T: () => date.toISOString().slice(11, 19),
    n: () => "\n",
    "%": () => "%",
  };
  return format.replaceAll(/%(.)/g, (whole, letter: string) => values[letter]?.() ?? whole);
}
