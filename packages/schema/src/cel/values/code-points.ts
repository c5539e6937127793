/** Positions in strings: CEL counts code points, JavaScript UTF-16 units. Most strings have one for the other. */

const SURROGATES = /[\ud800-\udfff]/;
/** Looking through shorter ones takes no time. */
const LONG = 256;
const MOST_REMEMBERED = 4 * 1024 * 1024;

/** Whether long strings are plain: loops ask the same ones again and again. */
const remembered = new Map<string, boolean>();
let characters = 0;

/** Whether each code point of a string is one unit. */
export function isPlain(text: string): boolean {
  if (text.length < LONG) return !SURROGATES.test(text);
  const known = remembered.get(text);
  if (known !== undefined) return known;
  const plain = !SURROGATES.test(text);
  characters += text.length;
  if (characters > MOST_REMEMBERED) {
    remembered.clear();
    characters = text.length;
  }
  remembered.set(text, plain);
  return plain;
}

export function codePointLength(text: string): number {
  return pointOf(text, text.length);
}

/** The code point at a position; undefined beyond the end. */
export function pointAt(text: string, index: number): string | undefined {
  if (isPlain(text)) return text[index];
  const unit = unitOf(text, index);
  const code = unit === undefined ? undefined : text.codePointAt(unit);
  return code === undefined ? undefined : String.fromCodePoint(code);
}

/** How many code points there are before a unit. */
export function pointOf(text: string, unit: number): number {
  if (isPlain(text)) return unit;
  let points = 0;
  for (let i = 0; i < unit; points++) i += widthAt(text, i);
  return points;
}

/** Where a code point begins; undefined beyond the end, which is a place too. */
export function unitOf(text: string, point: number): number | undefined {
  if (isPlain(text)) return point <= text.length ? point : undefined;
  let unit = 0;
  for (let i = 0; i < point; i++) {
    if (unit >= text.length) return undefined;
    unit += widthAt(text, unit);
  }
  return unit;
}

function widthAt(text: string, unit: number): number {
  return text.codePointAt(unit)! > 0xffff ? 2 : 1;
}
