/** A source of randomness that can be seeded, so that a run can be repeated. */
export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** A whole number in [0, bound); bounds up to 2^32. */
  below(bound: number): number;
  /** One of the items; throws if there are none. */
  pick<T>(items: readonly T[]): T;
  /** A random UUID (version 4). */
  uuid(): string;
  /** An independent stream, so that one consumer does not affect the values of another. */
  fork(): Random;
}

/** The letters Kubernetes uses for generated names: no vowels, no look-alikes. */
export const NAME_LETTERS = "bcdfghjklmnpqrstvwxz2456789";

/** The suffix that generateName appends: five letters. */
export function nameSuffix(random: Random, length = 5): string {
  let suffix = "";
  for (let i = 0; i < length; i++) suffix += NAME_LETTERS[random.below(NAME_LETTERS.length)];
  return suffix;
}

function hexWord(word: number): string {
  return word.toString(16).padStart(8, "0");
}

/** A seeded random generator (sfc32). Adjacent seeds give independent sequences. */
export function seededRandom(seed: number): Random {
  let a = seed | 0;
  let b = (seed / 2 ** 32) | 0;
  let c = 0x9e3779b9 | 0;
  let counter = 1;
  const next32 = () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    return sum >>> 0;
  };
  for (let i = 0; i < 12; i++) next32();
  const random: Random = {
    next: () => next32() / 2 ** 32,
    below: (bound) => Math.floor((next32() / 2 ** 32) * bound),
    pick(items) {
      if (items.length === 0) throw new RangeError("there is nothing to pick from");
      return items[random.below(items.length)] as (typeof items)[number];
    },
    uuid() {
      const hex = hexWord(next32()) + hexWord(next32()) + hexWord(next32()) + hexWord(next32());
      const variant = "89ab"[Number.parseInt(hex[16]!, 16) & 3];
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
    },
    fork: () => seededRandom(next32() * 2 ** 20 + (next32() >>> 12)),
  };
  return random;
}
