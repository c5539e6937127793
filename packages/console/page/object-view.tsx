import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ObjectSummary } from "../src/protocol.ts";
import { Actions } from "./actions.tsx";
import { type JsonObject, loadObject } from "./api.ts";
import { byMessage, type Condition, toneOf } from "./conditions.ts";
import { ExecView } from "./exec-view.tsx";
import { keyOf, span } from "./format.ts";
import { LogView } from "./log-view.tsx";
import { PortsView } from "./ports-view.tsx";
import { referrers, withReferences } from "./references.ts";
import { linkTo, route, setQuery } from "./route.ts";
import { StateMark, stateWord } from "./state-mark.tsx";
import { children, entries, hello, latestSample, names, objects, shownTime, warnings } from "./store.ts";
import { EntryList } from "./timeline.tsx";
import { rootOf, treeOf } from "./tree-model.ts";
import { TreeView } from "./tree-view.tsx";
import { YamlView } from "./yaml-view.tsx";

/** An object: the tree that it is part of, and all about it. */
export function ObjectView() {
  const id = route.value.query.get("id") ?? "";
  const all = objects();
  const object = all.get(id);
  if (!object) {
    return (
      <div class="gone">
        <h1>Not here</h1>
        <p>
          {shownTime.value === undefined
            ? "This object does not exist any more."
            : "This object did not exist at the time that you see, or that is no longer known."}
        </p>
        <p>
          <a href={linkTo("timeline", { object: id })}>Its timeline</a> ·{" "}
          <a href={linkTo("resources")}>All resources</a>
        </p>
      </div>
    );
  }
  const root = withReferences(treeOf(rootOf(object, all), children.value, warnings.value), names.value);
  return (
    <div class="object-view">
      <h1 class="unseen">
        {object.kind} {keyOf(object)}
      </h1>
      <TreeView root={root} selected={id} onSelect={(next) => setQuery({ id: next })} />
      <Details key={id} object={object} />
    </div>
  );
}

const TABS = ["summary", "yaml", "timeline", "logs", "exec", "ports"] as const;
const TITLES = { summary: "Summary", yaml: "YAML", timeline: "Timeline", logs: "Logs", exec: "Exec", ports: "Ports" };

function Details({ object }: { object: ObjectSummary }) {
  const full = useObject(object);
  const live = hello.value?.mode === "cluster" && shownTime.value === undefined;
  const tabs = TABS.filter((tab) => {
    if (tab === "logs") return object.pod && live;
    return (tab !== "exec" && tab !== "ports") || (object.pod && live && !hello.value?.readOnly);
  });
  const asked = route.value.query.get("tab") ?? "summary";
  const tab = tabs.find((one) => one === asked) ?? "summary";
  // On a small screen, the tabs scroll.
  useEffect(() => {
    const button = document.getElementById(`tab-${tab}`);
    const list = button?.parentElement;
    list?.scrollTo({ left: button!.offsetLeft - list.offsetLeft - 40 });
  }, [tab]);
  return (
    <section class="detail-panel" aria-label={`${object.kind} ${object.name}`}>
      <header>
        <span class="kind">{object.kind}</span>
        <h2>
          {object.namespace && <span class="muted">{object.namespace}/</span>}
          {object.name}
        </h2>
        <p class={`state-line ${object.state}`}>
          <StateMark state={object.state} label={false} /> <strong>{stateWord(object.state)}</strong>
          {object.message && <span> {object.message}</span>}
        </p>
        {live && !hello.value?.readOnly && <Actions object={object} full={full} />}
      </header>
      <div role="tablist" aria-label="Details">
        {tabs.map((one) => (
          <button
            key={one}
            type="button"
            role="tab"
            id={`tab-${one}`}
            aria-selected={one === tab}
            aria-controls="tab-panel"
            tabIndex={one === tab ? 0 : -1}
            onKeyDown={(event) => moveTab(event, tabs, one)}
            onClick={() => setQuery({ tab: one === "summary" ? undefined : one })}
          >
            {TITLES[one]}
          </button>
        ))}
      </div>
      <div role="tabpanel" id="tab-panel" aria-labelledby={`tab-${tab}`}>
        {tab === "summary" && <Summary object={object} full={full} />}
        {tab === "yaml" && (full ? <YamlView object={object} full={full} /> : <p class="empty">Loading …</p>)}
        {tab === "timeline" && <ObjectTimeline object={object} />}
        {tab === "logs" && <LogView object={object} />}
        {tab === "exec" && <ExecView object={object} />}
        {tab === "ports" && <PortsView object={object} full={full} />}
      </div>
    </section>
  );
}

function moveTab(event: KeyboardEvent, tabs: readonly string[], current: string): void {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const next = tabs[(tabs.indexOf(current) + step + tabs.length) % tabs.length]!;
  setQuery({ tab: next === "summary" ? undefined : next });
  document.getElementById(`tab-${next}`)?.focus();
}

/** The whole object, loaded again when its summary changes, at most once a second. */
function useObject(object: ObjectSummary): JsonObject | undefined {
  const full = useSignal<JsonObject | undefined>(undefined);
  const last = useSignal(0);
  const at = shownTime.value;
  useEffect(() => {
    let left = false;
    const load = async () => {
      last.value = Date.now();
      const loaded = await loadObject(object, at, hello.value?.mode === "recording").catch(() => undefined);
      if (!left && loaded) full.value = loaded;
    };
    const timer = setTimeout(load, Math.max(0, last.value + 1000 - Date.now()));
    return () => {
      left = true;
      clearTimeout(timer);
    };
  }, [object, at]);
  return full.value;
}

/** More objects than these that use one are counted. */
const SHOWN_USERS = 8;

function Summary({ object, full }: { object: ObjectSummary; full: JsonObject | undefined }) {
  const status = (full?.["status"] ?? {}) as { conditions?: Condition[] };
  const metadata = (full?.["metadata"] ?? {}) as {
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
  const owner = objects().get(object.owners[0] ?? "");
  const users = referrers(object, objects(), names.value);
  const now = shownTime.value ?? latestSample.value?.at ?? Date.now();
  const related = entries.value.filter((entry) => entry.type === "event" && entry.object.id === object.id).slice(-8);
  return (
    <>
      <dl class="facts">
        {owner && (
          <>
            <dt>Owner</dt>
            <dd>
              <a href={linkTo("object", { id: owner.id })}>
                {owner.kind} {owner.name}
              </a>
            </dd>
          </>
        )}
        {users.length > 0 && (
          <>
            <dt>Used by</dt>
            <dd class="users">
              {users.slice(0, SHOWN_USERS).map((one) => (
                <a key={one.id} href={linkTo("object", { id: one.id })}>
                  {one.kind} {one.name}
                </a>
              ))}
              {users.length > SHOWN_USERS && <span class="muted">and {users.length - SHOWN_USERS} more</span>}
            </dd>
          </>
        )}
        {object.created && (
          <>
            <dt>Created</dt>
            <dd>{span(Math.max(0, now - object.created))} ago</dd>
          </>
        )}
        {object.replicas && (
          <>
            <dt>Replicas</dt>
            <dd>
              {object.replicas.ready} of {object.replicas.desired} ready
            </dd>
          </>
        )}
        {object.statusManager && (
          <>
            <dt>Controller</dt>
            <dd>
              <a href={linkTo("timeline", { controller: object.statusManager })}>{object.statusManager}</a>
            </dd>
          </>
        )}
      </dl>
      {status.conditions && status.conditions.length > 0 && (
        <>
          <h3>Conditions</h3>
          <ul class="conditions">
            {byMessage(status.conditions).map((group) => (
              <li key={group[0]!.type} class={toneOf(group[0]!)}>
                {group.map((one) => (
                  <p key={one.type}>
                    <strong>{one.type}</strong> <span class="muted">is {one.status}</span>
                    {one.reason && <span class="chip">{one.reason}</span>}
                    {one.lastTransitionTime && (
                      <span class="muted"> for {span(Math.max(0, now - Date.parse(one.lastTransitionTime)))}</span>
                    )}
                  </p>
                ))}
                {group[0]!.message && <span class="message">{group[0]!.message}</span>}
              </li>
            ))}
          </ul>
        </>
      )}
      {related.length > 0 && (
        <>
          <h3>Events</h3>
          <EntryList entries={related.reverse()} />
        </>
      )}
      {metadata.labels && (
        <>
          <h3>Labels</h3>
          <ul class="labels">
            {Object.entries(metadata.labels).map(([name, value]) => (
              <li key={name}>
                {name}={value}
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

/** What happened to an object, and what its controller did about it. */
function ObjectTimeline({ object }: { object: ObjectSummary }) {
  const until = shownTime.value ?? Number.POSITIVE_INFINITY;
  const own = entries.value.filter(
    (entry) =>
      entry.at <= until &&
      (entry.type === "operator" || entry.type === "step"
        ? false
        : entry.type === "reconcile"
          ? entry.object === object.id || entry.writes.some((write) => write.object === object.id)
          : entry.object.id === object.id),
  );
  return (
    <>
      <EntryList entries={own.slice(-100).reverse()} />
      {own.length === 0 && <p class="empty">Nothing has happened to it since the console was started.</p>}
      <p>
        <a href={linkTo("timeline", { object: object.id })}>Open in the timeline</a>
      </p>
    </>
  );
}
