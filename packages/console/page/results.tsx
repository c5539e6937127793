import type { ResultTable } from "../src/protocol.ts";
import { type Comparison, comparisonsOf } from "./comparisons.ts";
import { linkTo, route } from "./route.ts";
import { hello } from "./store.ts";

/** How many colors there are. */
const COLORS = 6;

/** Results of benchmarks, one file at a time: its text, and its tables as bars. */
export function Results() {
  const results = hello.value?.results ?? [];
  const shown = results.find(({ file }) => file === route.value.query.get("file")) ?? results[0];
  if (!shown) return <p class="empty">There are no results.</p>;
  return (
    <div class="results">
      {results.length > 1 && (
        <nav aria-label="Results" class="buttons">
          {results.map(({ file, title }) => (
            <a
              key={file}
              class="chip"
              href={linkTo("results", { file })}
              aria-current={file === shown.file ? "page" : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
      )}
      <h1>{shown.title}</h1>
      {shown.parts.map((part, i) =>
        typeof part === "string" ? (
          <p key={i} class="note">
            {part}
          </p>
        ) : (
          <Bars key={i} table={part} />
        ),
      )}
    </div>
  );
}

function Bars({ table }: { table: ResultTable }) {
  const comparisons = comparisonsOf(table);
  if (comparisons.length === 0) return <PlainTable table={table} />;
  // What is compared has the same color everywhere.
  const names = [...new Set(comparisons.flatMap(({ bars }) => bars.map(({ name }) => name)))];
  return (
    <div class="plot-grid">
      {comparisons.map((one, i) => (
        <BarTable key={i} comparison={one} names={names} />
      ))}
    </div>
  );
}

/** A table with no numbers to compare. */
function PlainTable({ table: { head, rows } }: { table: ResultTable }) {
  return (
    <div class="table-frame">
      <table>
        <thead>
          <tr>
            {head.map((cell, i) => (
              <th key={i} scope="col">
                {cell}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>
              {row.map((cell, j) => (
                <td key={j}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Bars in a table, which reads as well without them. */
function BarTable({ comparison, names }: { comparison: Comparison; names: readonly string[] }) {
  const { title, ratio, bars } = comparison;
  const longest = Math.max(...bars.map(({ value }) => Math.abs(value)));
  return (
    <table class="plot bars">
      <caption>
        {title}
        {ratio && <span class="muted"> ratio {ratio}</span>}
      </caption>
      <tbody>
        {bars.map(({ name, value, text }, i) => (
          <tr key={i}>
            <th scope="row">{name}</th>
            <td>
              <span
                class={`result-bar owner-${names.indexOf(name) % COLORS}`}
                style={{ width: `${longest === 0 ? 0 : (100 * Math.abs(value)) / longest}%` }}
              />
            </td>
            <td class="number">{text}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
