/**
 * The default plural of a kind: lower case, then `y` after a consonant becomes `ies`, `s`, `x`, `z`, `ch` and `sh` get
 * `es`, all else gets `s`.
 */
export function pluralOf(kind: string): string {
  const singular = kind.toLowerCase();
  if (/[^aeiou]y$/.test(singular)) return `${singular.slice(0, -1)}ies`;
  return /(s|x|z|ch|sh)$/.test(singular) ? `${singular}es` : `${singular}s`;
}
