import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Entry } from "../src/protocol.ts";
import { EntryRow } from "./entry-row.tsx";
import { FindingChoice, shownFinding } from "./finding-choice.tsx";
import { keyOf } from "./format.ts";
import { linkTo, route, setQuery } from "./route.ts";
import { entries, hello, objects, shownTime, showTime, timeText } from "./store.ts";
import { useThrottled } from "./throttled.ts";
import { TimelineStrip } from "./timeline-strip.tsx";

const SHOWN = 200;
/** Milliseconds between two drawings of the strip: it has thousands of entries, and does not show single ones. */
const DRAWN_EVERY = 500;
const TYPES = ["reconcile", "change", "event", "operator"] as const;
const TYPE_TITLES = { reconcile: "Reconciles", change: "Changes", event: "Events", operator: "Operators" };

/** A recording has reconciles alone, and an exploration its own steps. */
function shownTypes(): readonly (typeof TYPES)[number][] {
  const mode = hello.value?.mode;
  return mode === "cluster" ? TYPES : mode === "recording" ? ["reconcile"] : [];
}

/** What happened: to everything, to an object, or by a controller. Time can be moved back. */
export function Timeline() {
  const { query } = route.value;
  const chosen = {
    object: query.get("object") ?? "",
    controller: query.get("controller") ?? "",
    finding: shownFinding(),
  };
  const hidden = new Set((query.get("without") ?? "").split(",").filter(Boolean));
  const text = (query.get("search") ?? "").toLowerCase();
  const open = Number(query.get("entry") ?? 0);
  const limit = useSignal(SHOWN);
  const matching = entries.value
    .filter((entry) => !hidden.has(entry.type) && isChosen(entry, chosen) && (!text || searched(entry).includes(text)))
    .sort((a, b) => a.at - b.at || a.id - b.id);
  const drawn = useThrottled(matching, query.toString(), DRAWN_EVERY);
  const until = shownTime.value ?? Number.POSITIVE_INFINITY;
  const shown = matching.filter(({ at }) => at <= until);
  const step = (by: 1 | -1) => {
    const current = matching.findIndex(({ id }) => id === open);
    const from = current >= 0 ? current : shown.length - (by < 0 ? 0 : 1);
    const next = matching[Math.min(matching.length - 1, Math.max(0, from + by))];
    if (!next) return;
    setQuery({ entry: String(next.id), at: String(next.at) });
    void showTime(next.at);
  };
  useKeys({ ",": () => step(-1), ".": () => step(1) });
  useTimeOfLink();
  const object = objects().get(chosen.object);
  return (
    <div class="timeline">
      <h1>
        Timeline
        {chosen.controller && <Filter text={chosen.controller} name="controller" />}
        {chosen.object && <Filter text={object ? `${object.kind} ${keyOf(object)}` : "an object"} name="object" />}
        <span class="count">{matching.length.toLocaleString("en-US")}</span>
      </h1>
      <FindingChoice />
      <div class="filters">
        <label class="grow">
          <span class="unseen">Search</span>
          <input
            type="search"
            placeholder="Search names, reasons, errors, fields"
            value={query.get("search") ?? ""}
            onInput={({ currentTarget }) => setQuery({ search: currentTarget.value || undefined })}
          />
        </label>
        <fieldset class="types">
          <legend class="unseen">Show</legend>
          {shownTypes().map((type) => (
            <label key={type} class={`toggle ${type}`}>
              <input
                type="checkbox"
                checked={!hidden.has(type)}
                onChange={() => setQuery({ without: toggled(hidden, type) })}
              />
              {TYPE_TITLES[type]}
            </label>
          ))}
        </fieldset>
        <div class="steps">
          <button type="button" onClick={() => step(-1)} title="Previous step (,)">
            ← Previous
          </button>
          <button type="button" onClick={() => step(1)} title="Next step (.)">
            Next →
          </button>
        </div>
      </div>
      <TimelineStrip entries={drawn} until={shownTime.value} onChoose={(at) => void showTime(at)} />
      {object && (
        <p>
          <a href={linkTo("object", { id: object.id })}>
            {object.kind} {keyOf(object)}
            {shownTime.value !== undefined && ` at ${timeText(shownTime.value)}`}
          </a>
        </p>
      )}
      <EntryList
        entries={shown.slice(-limit.value).reverse()}
        open={open}
        onOpen={(id) => setQuery({ entry: id ? String(id) : undefined })}
      />
      {shown.length === 0 && <p class="empty">Nothing has happened here yet.</p>}
      {shown.length > limit.value && (
        <button
          type="button"
          onClick={() => {
            limit.value += SHOWN;
          }}
        >
          Show older
        </button>
      )}
    </div>
  );
}

/** A link that names a time leads there. */
function useTimeOfLink(): void {
  const given = Number(route.value.query.get("at") ?? Number.NaN);
  useEffect(() => {
    if (!Number.isNaN(given)) void showTime(given);
  }, [given]);
}

function useKeys(keys: Readonly<Record<string, () => void>>): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (/^(INPUT|TEXTAREA|SELECT)$/.test((event.target as HTMLElement).tagName)) return;
      keys[event.key]?.();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
}

function Filter({ text, name }: { text: string; name: "object" | "controller" }) {
  return (
    <span class="chip filter">
      {text}
      <button type="button" aria-label={`Remove the filter ${text}`} onClick={() => setQuery({ [name]: undefined })}>
        ×
      </button>
    </span>
  );
}

function toggled(hidden: ReadonlySet<string>, type: string): string | undefined {
  const next = new Set(hidden);
  if (!next.delete(type)) next.add(type);
  return [...next].join(",") || undefined;
}

interface Chosen {
  readonly object: string;
  readonly controller: string;
  readonly finding: number | undefined;
}

function isChosen(entry: Entry, { object, controller, finding }: Chosen): boolean {
  if (entry.type === "step") return entry.finding === finding;
  if (controller && (entry.type !== "reconcile" || entry.controller !== controller)) return false;
  if (!object) return true;
  if (entry.type === "operator") return false;
  if (entry.type !== "reconcile") return entry.object.id === object;
  return entry.object === object || entry.writes.some((write) => write.object === object);
}

const searchTexts = new WeakMap<Entry, string>();

/** Made once for each entry: there are thousands, and a live list is searched many times a second. */
function searched(entry: Entry): string {
  const known = searchTexts.get(entry) ?? searchText(entry);
  searchTexts.set(entry, known);
  return known;
}

function searchText(entry: Entry): string {
  switch (entry.type) {
    case "change":
      return `${entry.object.kind} ${keyOf(entry.object)} ${entry.change} ${entry.by ?? ""} ${entry.diff.map(({ path, after }) => `${path} ${after ?? ""}`).join(" ")}`.toLowerCase();
    case "reconcile":
      return `${entry.controller} ${entry.kind ?? ""} ${entry.key} ${entry.outcome} ${entry.error ?? ""} ${entry.writes.map(({ text }) => text).join(" ")}`.toLowerCase();
    case "event":
      return `${entry.object.kind} ${keyOf(entry.object)} ${entry.reason} ${entry.message}`.toLowerCase();
    case "step":
      return `${entry.who} ${entry.step} ${entry.what} ${entry.result ?? ""}`.toLowerCase();
    default:
      return `${entry.operator} ${entry.pod} ${entry.message}`.toLowerCase();
  }
}

interface ListProps {
  readonly entries: readonly Entry[];
  readonly open?: number;
  readonly onOpen?: (id: number | undefined) => void;
}

/** Entries, one of which can be open. */
export function EntryList({ entries: list, open, onOpen }: ListProps) {
  const own = useSignal<number | undefined>(undefined);
  const current = onOpen ? open : own.value;
  const toggle = (id: number) => {
    const next = current === id ? undefined : id;
    if (onOpen) onOpen(next);
    else own.value = next;
  };
  return (
    <ol class="entries">
      {list.map((entry) => (
        <EntryRow key={entry.id} entry={entry} open={entry.id === current} onToggle={() => toggle(entry.id)} />
      ))}
    </ol>
  );
}
