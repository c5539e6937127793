const SHORT_ESCAPES: Record<string, string> = {
  '"': '\\"',
  "\\": "\\\\",
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
};

/**
 * Text in double quotes as Go's `%q` writes it. Kubernetes' messages quote what a user wrote this way, which differs from
 * JSON for control characters and whatever Unicode does not print.
 */
export function quoted(text: string): string {
  if (/^[ !#-[\]-~]*$/.test(text)) return `"${text}"`;
  let result = "";
  for (const character of text) result += SHORT_ESCAPES[character] ?? escaped(character);
  return `"${result}"`;
}

function escaped(character: string): string {
  if (character === " " || /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(character)) return character;
  const code = character.codePointAt(0)!;
  if (code < 0x20 || code === 0x7f) return `\\x${hex(code, 2)}`;
  if (code >= 0xd800 && code < 0xe000) return "\ufffd";
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
}

function hex(code: number, width: number): string {
  return code.toString(16).padStart(width, "0");
}
