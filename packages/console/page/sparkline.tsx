/** A line without axes: how a number developed. */
export function Sparkline({ values, label }: { values: readonly number[]; label: string }) {
  const [width, height] = [120, 28];
  const highest = Math.max(...values, 0.0001);
  const step = width / Math.max(1, values.length - 1);
  const points = values.map(
    (value, i) => `${(i * step).toFixed(1)},${(height - 2 - (value / highest) * (height - 4)).toFixed(1)}`,
  );
  const line = points.length > 1 ? `M${points.join("L")}` : "";
  const last = values.at(-1) ?? 0;
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${label}: now ${last.toFixed(2)}, at most ${highest < 0.001 ? 0 : highest.toFixed(2)}`}
    >
      {line && <path class="area" d={`${line}L${width},${height}L0,${height}Z`} />}
      {line && <path class="line" d={line} />}
    </svg>
  );
}
