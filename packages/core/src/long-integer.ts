/**
 * Whether a decimal integer has more digits than any that fits 64 bits. Ask this of a client's text before it becomes a bigint:
 * that takes the square of the number of digits.
 */
export function exceeds64Bits(text: string): boolean {
  return text.length > 20 && text.replace(/^[+-]?0*/, "").length > 20;
}
