import { useEffect, useRef } from "preact/hooks";
import type { Hello } from "../src/protocol.ts";
import { ClusterControls } from "./cluster-controls.tsx";
import { ObjectView } from "./object-view.tsx";
import { Overview } from "./overview.tsx";
import { Plots } from "./plots.tsx";
import { Resources } from "./resources.tsx";
import { Results } from "./results.tsx";
import { linkTo, route, setQuery } from "./route.ts";
import { connected, hello, shownTime, showTime, timeText } from "./store.ts";
import { ThemeSwitch } from "./theme-switch.tsx";
import { Timeline } from "./timeline.tsx";

const VIEWS = [
  { view: "overview", title: "Overview", icon: "M3 3h6v6H3zM11 3h6v4h-6zM11 9h6v8h-6zM3 11h6v6H3z" },
  { view: "resources", title: "Resources", icon: "M4 5h12M4 10h12M4 15h12" },
  { view: "timeline", title: "Timeline", icon: "M3 10h4l2-6 3 12 2-6h3" },
  { view: "plots", title: "Plots", icon: "M3 17V3M3 17h14M6 13l3-4 3 2 4-6" },
];

const CONTROLS = {
  view: "controls",
  title: "Controls",
  icon: "M4 6h7M15 6h1M4 14h1M9 14h7M13 4v4M7 12v4",
};

const RESULTS = { view: "results", title: "Results", icon: "M3 4h11M3 8h6M3 12h14M3 16h8" };

/** Of an explored run, only the timeline is recorded. */
function viewsOf({ mode, controls }: Hello): typeof VIEWS {
  if (mode === "exploration") return VIEWS.filter(({ view }) => view === "timeline");
  if (mode === "results") return [RESULTS];
  return controls ? [...VIEWS, CONTROLS] : VIEWS;
}

/** The frame around all views. */
export function Shell() {
  const views = hello.value ? viewsOf(hello.value) : [];
  const view = views.length === 1 ? views[0]!.view : route.value.view;
  const content = useRef<HTMLElement>(null);
  // A screen reader continues with the new view.
  useEffect(() => content.current?.scrollTo(0, 0), [view]);
  if (!hello.value) return <p class="loading">{connected.value ? "Loading …" : "Connecting …"}</p>;
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => content.current?.focus()}>
        Skip to content
      </button>
      <header>
        <a class="brand" href={linkTo("overview")}>
          <svg viewBox="0 0 32 32" aria-hidden="true">
            <path d="M5 5l11 11L5 27M27 5L16 16l11 11" />
            <circle cx="16" cy="16" r="4.5" />
          </svg>
          <span>Konverge</span>
        </a>
        <nav aria-label="Views">
          {views.map((one) => (
            <a
              key={one.view}
              href={linkTo(one.view)}
              aria-current={one.view === view || (view === "object" && one.view === "resources") ? "page" : undefined}
            >
              <svg viewBox="0 0 20 20" aria-hidden="true">
                <path d={one.icon} />
              </svg>
              {one.title}
            </a>
          ))}
        </nav>
        <Place />
        <ThemeSwitch />
      </header>
      <PastBanner />
      <main id="content" ref={content} tabIndex={-1}>
        <View view={view} />
      </main>
    </div>
  );
}

function View({ view }: { view: string }) {
  switch (view) {
    case "resources":
      return <Resources />;
    case "object":
      return <ObjectView />;
    case "timeline":
      return <Timeline />;
    case "plots":
      return <Plots />;
    case "results":
      return <Results />;
    case "controls":
      return <ClusterControls />;
    default:
      return <Overview />;
  }
}

/** Which cluster or recording, as whom, and whether changes arrive. */
function Place() {
  const { title, user, version, readOnly, mode } = hello.value!;
  const live = connected.value;
  return (
    <div class="place">
      <span class="title" title={[title, version, user && `as ${user}`].filter(Boolean).join(" · ")}>
        {title}
      </span>
      {readOnly && mode === "cluster" && <span class="chip">read-only</span>}
      {mode !== "cluster" ? (
        <span class="chip">{mode}</span>
      ) : (
        <span class={`chip live ${live ? "on" : "off"}`} role="status">
          {live ? "live" : "reconnecting"}
        </span>
      )}
    </div>
  );
}

function backToNow(): void {
  setQuery({ at: undefined });
  void showTime(undefined);
}

/** Says that an earlier time is shown. */
function PastBanner() {
  if (shownTime.value === undefined) return null;
  return (
    <div class="past" role="status">
      <span>
        You see the state at <strong>{timeText(shownTime.value)}</strong>.
      </span>
      <button type="button" onClick={backToNow}>
        {hello.value?.mode === "cluster" ? "Back to now" : "Show the end"}
      </button>
    </div>
  );
}
