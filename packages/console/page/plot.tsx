import { useEffect, useRef } from "preact/hooks";
import UPlot from "uplot";
import { theme } from "./theme-switch.tsx";

export interface Series {
  readonly name: string;
  readonly values: readonly number[];
}

interface PlotProps {
  readonly title: string;
  /** Seconds since 1970. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
}

const HEIGHT = 170;

/** Lines over time. The pointer shows the values of a moment; below, the last ones are in words. */
export function Plot({ title, times, series, format }: PlotProps) {
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot>(undefined);
  const names = series.map(({ name }) => name).join("\n");
  const now = theme();
  const data = [[...times], ...series.map(({ values }) => [...values])] as UPlot.AlignedData;
  useEffect(() => {
    const box = frame.current!;
    const made = new UPlot(options(box, series, format), data, box);
    plot.current = made;
    const resize = new ResizeObserver(() => {
      made.setSize({ width: box.clientWidth, height: HEIGHT });
      showLast(made);
    });
    resize.observe(box);
    return () => {
      resize.disconnect();
      made.destroy();
    };
  }, [names, now]);
  useEffect(() => {
    plot.current?.setData(data);
    if (plot.current) showLast(plot.current);
  });
  const last = series.map(({ name, values }) => `${name} ${format(values.at(-1) ?? 0)}`).join(", ");
  return (
    <figure class="plot">
      <figcaption>{title}</figcaption>
      <div ref={frame} role="img" aria-label={`${title}, last values: ${last}`} />
    </figure>
  );
}

/** Without the pointer, the legend has the last values. */
function showLast(plot: UPlot): void {
  if (plot.cursor.idx == null) plot.setLegend({ idx: plot.data[0].length - 1 });
}

function options(frame: HTMLElement, series: readonly Series[], format: (value: number) => string): UPlot.Options {
  const style = getComputedStyle(frame);
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const axis = {
    stroke: color("muted"),
    grid: { stroke: color("line"), width: 1 },
    ticks: { show: false },
    font: `11px ${style.fontFamily}`,
  };
  return {
    width: frame.clientWidth,
    height: HEIGHT,
    cursor: { points: { size: 5 }, drag: { x: true, y: false } },
    legend: { live: true },
    scales: { y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.1 : 1] } },
    axes: [
      {
        ...axis,
        size: 26,
        space: 64,
        values: [
          [3600, "{HH}:{mm}", null, null, null, null, null, null, 1],
          [60, "{HH}:{mm}", null, null, null, null, null, null, 1],
          [1, "{HH}:{mm}:{ss}", null, null, null, null, null, null, 1],
          [0.001, "{ss}.{fff}", null, null, null, null, null, null, 1],
        ],
      },
      { ...axis, size: 52, values: (_plot, values) => values.map(format) },
    ],
    series: [
      { value: "{HH}:{mm}:{ss}", label: "time" },
      ...series.map(({ name }, i) => ({
        label: name,
        stroke: color(`series-${i % 8}`),
        width: 1.75,
        points: { show: false },
        value: (_plot: UPlot, value: number | null) => (value === null ? "–" : format(value)),
      })),
    ],
  };
}
