import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { ObjectSummary } from "../src/protocol.ts";
import { keyOf, span } from "./format.ts";
import { linkTo, route, setQuery } from "./route.ts";
import { StateMark } from "./state-mark.tsx";
import { hello, latestSample, objects } from "./store.ts";

const SHOWN = 150;

/** All objects, with search and filters. */
export function Resources() {
  const { query } = route.value;
  const [text, kind, namespace, state] = ["search", "kind", "namespace", "state"].map((name) => query.get(name) ?? "");
  const limit = useSignal(SHOWN);
  const search = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      if (event.key !== "/" || /^(INPUT|TEXTAREA|SELECT)$/.test((event.target as HTMLElement).tagName)) return;
      event.preventDefault();
      search.current?.focus();
    };
    addEventListener("keydown", focus);
    return () => removeEventListener("keydown", focus);
  }, []);
  const all = [...objects().values()];
  const words = text!.toLowerCase().split(/\s+/).filter(Boolean);
  const found = all
    .filter(
      (one) =>
        (!kind || kindText(one) === kind) &&
        (!namespace || one.namespace === namespace) &&
        (!state || (state === "waiting" ? isWaiting(one) : one.state === state)) &&
        words.every((word) => searchText(one).includes(word)),
    )
    .sort(compare);
  const now = latestSample.value?.at ?? Date.now();
  return (
    <div class="resources">
      <h1>
        Resources <span class="count">{found.length.toLocaleString("en-US")}</span>
      </h1>
      <search class="filters">
        <label class="grow">
          <span class="unseen">Search</span>
          <input
            ref={search}
            type="search"
            placeholder="Search kind, name, namespace, message   /"
            value={text}
            onInput={({ currentTarget }) => setQuery({ search: currentTarget.value || undefined })}
          />
        </label>
        <Choice name="kind" title="Kind" value={kind!} values={counts(all, kindText)} />
        <Choice name="namespace" title="Namespace" value={namespace!} values={counts(all, (one) => one.namespace)} />
        <Choice
          name="state"
          title="State"
          value={state!}
          values={[["waiting", "not ready"], ...counts(all, (one) => one.state)]}
        />
      </search>
      {hello.value!.hidden.length > 0 && (
        <p class="note">You have no permission to watch: {hello.value!.hidden.join(", ")}</p>
      )}
      <div class="table-frame">
        <table class="objects">
          <thead>
            <tr>
              <th scope="col">Kind</th>
              <th scope="col">Name</th>
              <th scope="col">State</th>
              <th scope="col" class="number">
                Age
              </th>
            </tr>
          </thead>
          <tbody>
            {found.slice(0, limit.value).map((one) => (
              <tr key={one.id}>
                <td class="kind">{one.kind}</td>
                <td>
                  <a href={linkTo("object", { id: one.id })}>
                    {one.namespace && <span class="muted">{one.namespace}/</span>}
                    {one.name}
                  </a>
                </td>
                <td>
                  <StateMark state={one.state} /> <span class="message">{one.message}</span>
                </td>
                <td class="number">{one.created ? span(Math.max(0, now - one.created)) : ""}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {found.length === 0 && <p class="empty">Nothing matches.</p>}
      {found.length > limit.value && (
        <button
          type="button"
          onClick={() => {
            limit.value += SHOWN;
          }}
        >
          Show {Math.min(SHOWN, found.length - limit.value)} more of {found.length - limit.value}
        </button>
      )}
    </div>
  );
}

const isWaiting = ({ state }: ObjectSummary) => state === "failed" || state === "progressing";
const kindText = ({ group, kind }: ObjectSummary) => (group ? `${kind}.${group}` : kind);
const searchText = (one: ObjectSummary) => `${kindText(one)} ${keyOf(one)} ${one.message}`.toLowerCase();

/** Kinds that users defined come first, then what runs, then the rest. */
function rankOf({ group, kind }: ObjectSummary): number {
  if (group.includes(".") && !group.endsWith(".k8s.io")) return 0;
  return ["Deployment", "StatefulSet", "DaemonSet", "Job", "Pod", "Node"].includes(kind) ? 1 : 2;
}

function compare(a: ObjectSummary, b: ObjectSummary): number {
  const byState = Number(b.state === "failed") - Number(a.state === "failed");
  return (
    byState ||
    rankOf(a) - rankOf(b) ||
    order(a.kind, b.kind) ||
    order(a.namespace ?? "", b.namespace ?? "") ||
    order(a.name, b.name)
  );
}

/** Names are ASCII, and there are many. */
const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function counts(all: readonly ObjectSummary[], of: (one: ObjectSummary) => string | undefined): [string, string][] {
  const found = new Map<string, number>();
  for (const one of all) {
    const value = of(one);
    if (value) found.set(value, (found.get(value) ?? 0) + 1);
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([value, count]) => [value, `${value} (${count})`]);
}

function Choice({
  name,
  title,
  value,
  values,
}: {
  name: string;
  title: string;
  value: string;
  values: [string, string][];
}) {
  return (
    <label>
      <span class="unseen">{title}</span>
      <select value={value} onChange={({ currentTarget }) => setQuery({ [name]: currentTarget.value || undefined })}>
        <option value="">{title}: all</option>
        {values.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
