import type { Entry, FieldDiff, ObjectName, ReconcileEntry, StepEntry, WriteRecord } from "../src/protocol.ts";
import { keyOf, span } from "./format.ts";
import { linkTo } from "./route.ts";
import { entries, timeText } from "./store.ts";

/** How an entry is called and colored. */
export function toneOf(entry: Entry): "good" | "bad" | "warn" | "change" | "quiet" {
  switch (entry.type) {
    case "reconcile":
      if (entry.outcome === "transient" || entry.outcome === "permanent") return "bad";
      if (entry.outcome === "conflict" || entry.outcome === "external" || entry.outcome === "waiting") return "warn";
      return "good";
    case "event":
      return entry.warning ? "warn" : "quiet";
    case "operator":
      return entry.level === "error" ? "bad" : entry.level === "warn" ? "warn" : "quiet";
    case "step":
      if (entry.step === "fault") return "bad";
      if (entry.live !== undefined || /^[45]\d\d/.test(entry.result ?? "")) return "warn";
      return entry.step === "write" || entry.step === "change" ? "change" : "quiet";
    default:
      return entry.change === "deleted" ? "warn" : "change";
  }
}

const labelOf = (entry: Entry) => (entry.type === "step" ? entry.step : entry.type);

interface RowProps {
  readonly entry: Entry;
  readonly open?: boolean;
  /** Given: the row can be opened. */
  readonly onToggle?: () => void;
}

/** An entry of the timeline: one line, and its details when it is open. */
export function EntryRow({ entry, open = false, onToggle }: RowProps) {
  const body = (
    <>
      <time dateTime={new Date(entry.at).toISOString()}>{timeText(entry.at)}</time>
      <span class={`tag ${entry.type} ${toneOf(entry)}`}>{labelOf(entry)}</span>
      <span class="grow text">
        <EntryText entry={entry} />
      </span>
    </>
  );
  return (
    <li class={`entry ${open ? "open" : ""}`} data-entry={entry.id}>
      {onToggle ? (
        <button type="button" class="line" aria-expanded={open} onClick={onToggle}>
          {body}
        </button>
      ) : (
        <div class="line">{body}</div>
      )}
      {open && <EntryDetails entry={entry} />}
    </li>
  );
}

function EntryText({ entry }: { entry: Entry }) {
  switch (entry.type) {
    case "change":
      return (
        <>
          <Named object={entry.object} /> {entry.change}
          {entry.by && <span class="muted"> by {entry.by}</span>}
          <span class="muted">{changeText(entry.diff)}</span>
        </>
      );
    case "reconcile":
      return (
        <>
          <strong>{entry.controller}</strong> {entry.key} <ReconcileText entry={entry} />
        </>
      );
    case "event":
      return (
        <>
          <Named object={entry.object} /> <strong>{entry.reason}</strong> {entry.message}
        </>
      );
    case "step":
      return <StepText entry={entry} />;
    default:
      return (
        <>
          <strong>{entry.operator}</strong> {entry.message} <span class="muted">{entry.pod}</span>
        </>
      );
  }
}

function StepText({ entry }: { entry: StepEntry }) {
  const { who, what, result, version, live } = entry;
  const stale = live === "deleted" ? "it is deleted" : `it is at ${live}`;
  return (
    <>
      <strong>{who}</strong> {what}
      {result !== undefined && <span class="muted"> → {result}</span>}
      {version !== undefined && <span class="muted"> version {version}</span>}
      {live !== undefined && <span class="bad"> stale: {stale}</span>}
    </>
  );
}

function Named({ object }: { object: ObjectName }) {
  return (
    <>
      <span class="kind">{object.kind}</span> <strong>{keyOf(object)}</strong>
    </>
  );
}

/** Of several fields that changed, the most informative comes first. */
const MOST_INFORMATIVE_FIRST = [
  /^status\.(currentPrimary|primary)$/,
  /^status\.(phase|state)$/,
  /^spec\./,
  /^status\.conditions\[[^\]]+\]\.status$/,
  /^status\.[a-z]*[rR]eplicas$/,
  /^status\.(?!conditions)/,
  /^status/,
  /^(?!metadata)/,
];

function changeText(diff: readonly FieldDiff[]): string {
  const shown =
    MOST_INFORMATIVE_FIRST.map((pattern) => diff.find(({ path }) => pattern.test(path))).find(Boolean) ?? diff[0];
  if (!shown) return "";
  const from = shown.before === undefined ? "" : `${shown.before} → `;
  const rest = diff.length > 1 ? `, and ${diff.length - 1} more` : "";
  return `: ${shown.path} ${from}${shown.after ?? "removed"}${rest}`;
}

function ReconcileText({ entry }: { entry: ReconcileEntry }) {
  const { writes, outcome, error, duration } = entry;
  return (
    <>
      {error ? <span class="bad">{error}</span> : <span>{outcome}</span>}
      {writes.length > 0 && (
        <span class="muted">, {writes.length === 1 ? writes[0]!.text : `${writes.length} writes`}</span>
      )}
      {duration !== undefined && <span class="muted"> in {span(duration)}</span>}
    </>
  );
}

function EntryDetails({ entry }: { entry: Entry }) {
  return (
    <div class="details">
      {entry.type === "reconcile" && <ReconcileDetails entry={entry} />}
      {entry.type === "change" && <Diff diff={entry.diff} more={entry.more ?? 0} />}
      {entry.type === "event" && <p>{entry.message}</p>}
      {entry.type === "operator" && <p>{entry.message}</p>}
      {entry.type === "step" && <p>The newest resource version in the cluster is {entry.revision}.</p>}
      <p class="links">
        {entry.type !== "operator" && entry.type !== "step" && <ObjectLink entry={entry} />}
        {entry.type === "reconcile" && (
          <a href={linkTo("timeline", { controller: entry.controller })}>All of {entry.controller}</a>
        )}
      </p>
    </div>
  );
}

function ObjectLink({ entry }: { entry: Exclude<Entry, { type: "operator" | "step" }> }) {
  const id = entry.type === "reconcile" ? entry.object : entry.object.id;
  return id ? <a href={linkTo("object", { id })}>Open the object</a> : null;
}

/** The types of triggers in words; see `ReconcileTrigger` in packages/runtime. */
const TRIGGERS: Readonly<Record<string, string>> = {
  object: "a change of the object",
  child: "a change of the child",
  watch: "a change of the watched object",
  source: "an event source",
  resync: "the periodic resync",
  after: "its timer: the reconcile before asked to be called again",
  retry: "a retry after a failure",
  takeover: "a takeover of the lease or shard",
  daemon: "its daemon",
};

function triggerText(text: string): string {
  const [type = "", ...rest] = text.split(" ");
  return [TRIGGERS[type] ?? type, ...rest].join(" ");
}

function ReconcileDetails({ entry }: { entry: ReconcileEntry }) {
  const { triggers, reads, writes, notes, waited, duration, next, failures, error, outcome } = entry;
  return (
    <dl class="facts">
      <Fact name="Triggered by" list={triggers.map(triggerText)} />
      <dt>Ended</dt>
      <dd>
        {outcome}
        {duration !== undefined && ` after ${span(duration)}`}
        {waited !== undefined && `, waited ${span(waited)} in the queue`}
        {failures > 0 && `, failed ${failures} times before`}
        {next !== undefined && `, next in ${span(next)}`}
      </dd>
      {error && (
        <>
          <dt>Error</dt>
          <dd class="bad">{error}</dd>
        </>
      )}
      {writes.length > 0 && (
        <>
          <dt>Wrote</dt>
          <dd>
            <ul>
              {writes.map((write, i) => (
                <li key={i}>
                  {write.object ? <a href={linkTo("object", { id: write.object })}>{write.text}</a> : write.text}
                  {write.error && <span class="bad"> {write.error}</span>}
                  <Diff diff={write.diff ?? observedDiff(entry, write)} more={0} />
                </li>
              ))}
            </ul>
          </dd>
        </>
      )}
      <Fact name="Also" list={notes} />
      {reads.length > 0 && (
        <>
          <dt>Read</dt>
          <dd>
            <details open={reads.length <= 4}>
              <summary>{reads.length === 1 ? "1 object" : `${reads.length} objects`}</summary>
              <ul>
                {reads.map((text) => (
                  <li key={text}>{text}</li>
                ))}
              </ul>
            </details>
          </dd>
        </>
      )}
    </dl>
  );
}

/** Milliseconds after a reconcile in which a watch reports what it wrote. */
const LATE = 2000;

/** Logs name writes without their content. The diff is in the change that the watch reported, by the same manager. */
function observedDiff({ at, duration = 0, controller }: ReconcileEntry, { object }: WriteRecord): readonly FieldDiff[] {
  if (!object) return [];
  const change = entries.value.find(
    (entry) =>
      entry.type === "change" &&
      entry.object.id === object &&
      entry.by === controller &&
      entry.at >= at &&
      entry.at <= at + duration + LATE,
  );
  return change?.type === "change" ? change.diff : [];
}

function Fact({ name, list }: { name: string; list: readonly string[] }) {
  if (list.length === 0) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <ul>
          {list.map((text, i) => (
            <li key={i}>{text}</li>
          ))}
        </ul>
      </dd>
    </>
  );
}

/** Fields that changed, with their values before and after. */
export function Diff({ diff, more }: { diff: readonly FieldDiff[]; more: number }) {
  if (diff.length === 0) return null;
  return (
    <table class="diff">
      <caption class="unseen">Changed fields</caption>
      <tbody>
        {diff.map(({ path, before, after }) => (
          <tr key={path}>
            <th scope="row">{path}</th>
            <td>
              {before !== undefined && <del>{before}</del>} {after !== undefined && <ins>{after}</ins>}
            </td>
          </tr>
        ))}
        {more > 0 && (
          <tr>
            <td colSpan={2} class="muted">
              and {more} more fields
            </td>
          </tr>
        )}
      </tbody>
    </table>
  );
}
