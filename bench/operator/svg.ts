const COLORS = ["#0969da", "#bc4c00", "#8250df", "#1a7f37", "#bf3989", "#9a6700", "#57606a"];

export function colorOf(i: number): string {
  return COLORS[i % COLORS.length]!;
}

/** A picture with a title and a legend on its first two lines. Drawn on white, since pages are light or dark; needs no script. */
export function picture(
  title: string,
  names: readonly string[],
  size: { width: number; height: number },
  content: readonly string[],
): string {
  const { width, height } = size;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escapeXml(title)}</title>`,
    "<style>text{font:12px system-ui,sans-serif;fill:#1f2328}.end{text-anchor:end}.middle{text-anchor:middle}.strong{font-weight:600}line{stroke:#d1d9e0}polyline{fill:none;stroke-width:2}</style>",
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    `<text class="strong" x="12" y="20">${escapeXml(title)}</text>`,
    ...legend(names),
    ...content,
    "</svg>",
    "",
  ].join("\n");
}

function legend(names: readonly string[]): string[] {
  let x = 18;
  return names.map((name, i) => {
    const at = x;
    x += 24 + name.length * 7;
    return `<circle cx="${at}" cy="40" r="5" fill="${colorOf(i)}"/><text x="${at + 9}" y="44">${escapeXml(name)}</text>`;
  });
}

/** A value with a tooltip. */
export function point(x: number, y: number, color: string, tip: string): string {
  return `<circle class="point" cx="${x}" cy="${y}" r="5" fill="${color}" fill-opacity="0.85"><title>${escapeXml(tip)}</title></circle>`;
}

export function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
