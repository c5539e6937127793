/** An IPv4 address, in which leading zeros are tolerated, or an IPv6 address that ends in one. */
export function isIpv4(text: string): boolean {
  return text.includes(".") && (isDottedQuad(text, true) || isColonHex(text, true));
}

export function isIpv6(text: string): boolean {
  return text.includes(":") && isColonHex(text, false);
}

/** An address of either family, as Go's net.ParseIP takes it. */
export function isIp(text: string): boolean {
  return isDottedQuad(text, false) || isColonHex(text, false);
}

/** An address and the length of its prefix: `10.0.0.0/8`. */
export function isCidr(text: string): boolean {
  const slash = text.indexOf("/");
  if (slash < 0) return false;
  const address = text.slice(0, slash);
  const length = /^[0-9]{1,7}$/.test(text.slice(slash + 1)) ? Number(text.slice(slash + 1)) : Number.NaN;
  if (isDottedQuad(address, true)) return length <= 32;
  return isColonHex(address, true) && length <= 128;
}

/** EUI-48, EUI-64 or the 20 bytes of InfiniBand, separated by colons, hyphens or dots. */
export function isMac(text: string): boolean {
  const bytes = /^[0-9a-f]{2}(?:([:-])[0-9a-f]{2}(?:\1[0-9a-f]{2})*)$/i.test(text) ? (text.length + 1) / 3 : 0;
  const pairs = /^[0-9a-f]{4}(?:\.[0-9a-f]{4})+$/i.test(text) ? (2 * (text.length + 1)) / 5 : 0;
  return [6, 8, 20].includes(bytes || pairs);
}

function isDottedQuad(text: string, allowLeadingZeros: boolean): boolean {
  const parts = text.split(".");
  if (parts.length !== 4) return false;
  return parts.every((part) => {
    if (!/^[0-9]+$/.test(part) || Number(part) > 255) return false;
    return allowLeadingZeros || part === "0" || !part.startsWith("0");
  });
}

function isColonHex(text: string, allowLeadingZeros: boolean): boolean {
  const halves = text.split("::");
  if (halves.length > 2) return false;
  let words = 0;
  for (const [half, isLast] of halves.map((half, index) => [half, index === halves.length - 1] as const)) {
    if (half === "") continue;
    const parts = half.split(":");
    for (const [index, part] of parts.entries()) {
      if (isLast && index === parts.length - 1 && part.includes(".")) {
        if (!isDottedQuad(part, allowLeadingZeros)) return false;
        words += 2;
      } else {
        if (!/^[0-9a-fA-F]{1,4}$/.test(part)) return false;
        words++;
      }
    }
  }
  // "::" stands for at least one word.
  return halves.length === 2 ? words < 8 : words === 8;
}
