/** The most bytes that a field manager's name may have. */
const MAX_BYTES = 128;

/** The plain space is the only blank that counts as printable. */
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/**
 * The name under which a request's writes are recorded: the one it gives, or the user agent up to the first slash,
 * without what cannot be printed.
 */
export function managerNameOf(fieldManager: string | undefined | null, userAgent: string): string {
  if (fieldManager) return fieldManager;
  let name = "";
  let bytes = 0;
  for (const character of userAgent.split("/", 1)[0]!) {
    if (!PRINTABLE.test(character)) continue;
    bytes += Buffer.byteLength(character);
    if (bytes > MAX_BYTES) break;
    name += character;
  }
  return name;
}
