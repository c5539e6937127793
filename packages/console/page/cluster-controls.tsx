import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { ControlRequest, ControlsState, KeptState, ObjectSummary } from "../src/protocol.ts";
import { kubeletAction } from "./actions.tsx";
import { control } from "./api.ts";
import { keyOf, shortClockTime } from "./format.ts";
import { linkTo } from "./route.ts";
import { StateMark } from "./state-mark.tsx";
import { hello, objects } from "./store.ts";

const SPEEDS = [0, 1, 10, 60];
const JUMPS = [
  { title: "1 minute", ms: 60_000 },
  { title: "5 minutes", ms: 5 * 60_000 },
  { title: "1 hour", ms: 3_600_000 },
];
/** More are found among the resources. */
const SHOWN_NODES = 20;

/** Does something, and shows what it failed with. */
type Perform = (work: () => Promise<unknown>) => void;

/** Time, faults, snapshots and forks of an embedded cluster. */
export function ClusterControls() {
  const { controls } = hello.value!;
  const busy = useSignal(false);
  const problem = useSignal("");
  const perform: Perform = async (work) => {
    busy.value = true;
    problem.value = "";
    await work().catch((error: unknown) => {
      problem.value = error instanceof Error ? error.message : String(error);
    });
    busy.value = false;
  };
  if (!controls) {
    return (
      <div class="controls">
        <h1>Controls</h1>
        <p class="empty">
          Time, faults and snapshots are those of an embedded cluster. They are in the console in its process (konverge
          up --console, konverge dev, npm start), for its administrators, unless it is read-only.
        </p>
      </div>
    );
  }
  const send = (request: ControlRequest) => perform(() => control(request));
  return (
    <div class="controls" aria-busy={busy.value}>
      <h1>Controls</h1>
      <p class="bad" role="alert">
        {problem.value}
      </p>
      <Time time={controls.time} send={send} />
      <Faults delay={controls.requestDelay} send={send} perform={perform} />
      <Snapshots controls={controls} send={send} />
    </div>
  );
}

interface SendProps {
  readonly send: (request: ControlRequest) => void;
}

function Time({ time, send }: { readonly time: ControlsState["time"] } & SendProps) {
  if ("unavailable" in time) {
    return (
      <section aria-labelledby="time-title">
        <h2 id="time-title">Time</h2>
        <p class="note">The time of this cluster cannot be changed: {time.unavailable}.</p>
      </section>
    );
  }
  const isJumping = time.jumpsTo !== undefined;
  return (
    <section aria-labelledby="time-title">
      <h2 id="time-title">Time</h2>
      <p class="note">
        {isJumping ? (
          <>
            Jumping to <strong>{shortClockTime(time.jumpsTo)}</strong>: everything that is due in between happens.
          </>
        ) : (
          <>
            It is <ClusterTime now={time.now} speed={time.speed} /> in the cluster.
          </>
        )}
      </p>
      <fieldset class="buttons speeds">
        <legend>Speed</legend>
        {SPEEDS.map((speed) => (
          <button
            key={speed}
            type="button"
            aria-pressed={time.speed === speed}
            onClick={() => send({ action: "speed", speed })}
          >
            {speed === 0 ? "Pause" : `${speed}×`}
          </button>
        ))}
      </fieldset>
      <fieldset class="buttons jumps">
        <legend>Jump ahead</legend>
        {JUMPS.map(({ title, ms }) => (
          <button key={ms} type="button" onClick={() => send({ action: "jump", ms })}>
            {title}
          </button>
        ))}
      </fieldset>
    </section>
  );
}

/** The time as it goes on from what the server last said. */
function ClusterTime({ now, speed }: { readonly now: number; readonly speed: number }) {
  const shown = useSignal(now);
  useEffect(() => {
    const since = performance.now();
    shown.value = now;
    const timer = setInterval(() => {
      shown.value = now + (performance.now() - since) * speed;
    }, 250);
    return () => clearInterval(timer);
  }, [now, speed]);
  return <strong class="cluster-time">{shortClockTime(shown.value)}</strong>;
}

function Faults({ delay, send, perform }: { readonly delay: number; readonly perform: Perform } & SendProps) {
  const given = useSignal(delay);
  const all = [...objects().values()];
  const operators = all.filter(({ operator, pod }) => operator !== undefined && pod?.phase === "Running");
  const nodes = all.filter(({ node }) => node !== undefined).sort((a, b) => (a.name < b.name ? -1 : 1));
  return (
    <section aria-labelledby="faults-title">
      <h2 id="faults-title">Faults</h2>
      <form
        class="buttons"
        onSubmit={(event) => {
          event.preventDefault();
          send({ action: "delay requests", ms: given.value });
        }}
      >
        <label>
          Delay each request by{" "}
          <input
            type="number"
            min={0}
            max={60_000}
            value={given.value}
            onInput={({ currentTarget }) => {
              given.value = Number(currentTarget.value);
            }}
          />{" "}
          ms
        </label>
        <button type="submit">Delay requests</button>
        <span class="muted">
          {delay === 0 ? "Requests are not delayed." : `Each request through the cluster's port waits ${delay} ms.`}
        </span>
      </form>
      <h3>Operators</h3>
      {operators.length === 0 && <p class="empty">No operator runs in a pod.</p>}
      <ul class="rows">
        {operators.map((pod) => (
          <Row key={pod.id} object={pod}>
            <button type="button" onClick={() => send({ action: "crash pod", pod: keyOf(pod) })}>
              Kill
            </button>
          </Row>
        ))}
      </ul>
      <h3>Nodes</h3>
      <ul class="rows">
        {nodes.slice(0, SHOWN_NODES).map((node) => {
          const { title, run } = kubeletAction(node);
          return (
            <Row key={node.id} object={node}>
              <button type="button" onClick={() => perform(run)}>
                {title}
              </button>
            </Row>
          );
        })}
      </ul>
      {nodes.length > SHOWN_NODES && (
        <p class="note">
          <a href={linkTo("resources", { search: "Node" })}>All {nodes.length} nodes</a>
        </p>
      )}
    </section>
  );
}

function Row({ object, children }: { readonly object: ObjectSummary; readonly children: ComponentChildren }) {
  return (
    <li>
      <StateMark state={object.state} />
      <a class="grow" href={linkTo("object", { id: object.id })}>
        {keyOf(object)}
      </a>
      <span class="muted">{object.message}</span>
      {children}
    </li>
  );
}

function Snapshots({ controls, send }: { readonly controls: ControlsState } & SendProps) {
  const { snapshots, forks } = controls;
  return (
    <section aria-labelledby="snapshots-title">
      <h2 id="snapshots-title">Snapshots and forks</h2>
      <p class="note">
        A snapshot is kept in memory until this process ends. A fork is another cluster with the same state, which
        continues independently.
      </p>
      <p class="buttons">
        <button type="button" onClick={() => send({ action: "snapshot" })}>
          Take snapshot
        </button>
        <button type="button" onClick={() => send({ action: "fork" })}>
          Fork now
        </button>
      </p>
      <ul class="rows snapshots">
        {snapshots.map((one) => (
          <li key={one.id}>
            <span class="grow">Snapshot {keptText(one)}</span>
            <button type="button" onClick={() => send({ action: "restore", id: one.id })}>
              Restore
            </button>
            <button type="button" onClick={() => send({ action: "fork", id: one.id })}>
              Fork
            </button>
            <button type="button" onClick={() => send({ action: "forget", id: one.id })}>
              Forget
            </button>
          </li>
        ))}
      </ul>
      <ul class="rows forks">
        {forks.map((one) => (
          <li key={one.id}>
            <span class="grow">Fork {keptText(one)}</span>
            <a href={one.url} target="_blank" rel="noreferrer">
              Open its console
            </a>
            <button type="button" onClick={() => send({ action: "stop fork", id: one.id })}>
              Stop
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

const keptText = ({ id, at, objects: count }: KeptState) =>
  `${id}: ${shortClockTime(at)}, ${count.toLocaleString("en-US")} objects`;
