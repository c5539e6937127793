import type { ControllerSample, ObjectSummary, Sample } from "../src/protocol.ts";
import { EntryRow } from "./entry-row.tsx";
import { keyOf, latency, short } from "./format.ts";
import { lastMinute } from "./last-minute.ts";
import { latestEntries } from "./latest-entries.ts";
import { linkTo } from "./route.ts";
import { Sparkline } from "./sparkline.tsx";
import { StateMark, stateWord } from "./state-mark.tsx";
import { entries, hello, latestSample, objects, samples } from "./store.ts";

const ATTENTION = 10;
const ACTIVITY = 14;
/** Phases in the order in which they are drawn. */
const PHASES = ["Running", "Succeeded", "Pending", "Terminating", "Failed", "Unknown"];

/** Health at a glance: the cluster, its operators, what needs attention, what happens. */
export function Overview() {
  const sample = latestSample.value;
  return (
    <div class="overview">
      <h1 class="unseen">Overview</h1>
      {sample && hello.value?.mode === "cluster" && <ClusterTiles sample={sample} />}
      <section aria-labelledby="operators-title">
        <h2 id="operators-title">{hello.value?.mode === "recording" ? "Controllers" : "Operators"}</h2>
        <Operators />
      </section>
      <div class="halves">
        <Attention />
        <Activity />
      </div>
    </div>
  );
}

function ClusterTiles({ sample }: { sample: Sample }) {
  const { nodes, gpus, pods } = sample;
  const total = Object.values(pods).reduce((sum, count) => sum + count, 0);
  const phases = Object.keys(pods).sort((a, b) => PHASES.indexOf(a) - PHASES.indexOf(b));
  return (
    <section class="tiles" aria-label="Cluster">
      <div class="tile">
        <h3>Nodes</h3>
        <p class="figure">
          {nodes.ready}
          <small> of {nodes.total} ready</small>
        </p>
        <Bar parts={[{ name: "ready", count: nodes.ready, tone: "ready" }]} total={nodes.total} />
      </div>
      <div class="tile">
        <h3>GPUs</h3>
        <p class="figure">
          {gpus.used}
          <small> of {gpus.total} in use</small>
        </p>
        <Bar parts={[{ name: "in use", count: gpus.used, tone: "accent" }]} total={gpus.total} />
      </div>
      <div class="tile wide">
        <h3>Pods</h3>
        <p class="figure">
          {total}
          <small class="legend">
            {phases.map((phase) => (
              <span key={phase} class={`dot ${toneOf(phase)}`}>
                {pods[phase]} {phase}
              </span>
            ))}
          </small>
        </p>
        <Bar parts={phases.map((name) => ({ name, count: pods[name]!, tone: toneOf(name) }))} total={total} />
      </div>
      <div class="tile">
        <h3>Changes</h3>
        <p class="figure">
          {short(sample.changes)}
          <small> per second</small>
        </p>
        <Sparkline values={samples.value.slice(-60).map(({ changes }) => changes)} label="Changes per second" />
      </div>
    </section>
  );
}

function toneOf(phase: string): string {
  return (
    { Running: "ready", Succeeded: "done", Pending: "progressing", Failed: "failed", Terminating: "terminating" }[
      phase
    ] ?? "terminating"
  );
}

function Bar({ parts, total }: { parts: { name: string; count: number; tone: string }[]; total: number }) {
  return (
    <div class="bar" aria-hidden="true">
      {parts.map(({ name, count, tone }) => (
        <span key={name} class={tone} style={{ width: `${total === 0 ? 0 : (100 * count) / total}%` }} />
      ))}
    </div>
  );
}

function Operators() {
  const deployments = [...objects().values()].filter(({ operator, kind }) => operator && kind === "Deployment");
  const byOperator = new Map<string, ControllerSample[]>();
  for (const one of latestControllers()) byOperator.set(one.operator, [...(byOperator.get(one.operator) ?? []), one]);
  const names = new Set([...deployments.map(({ operator }) => operator!), ...byOperator.keys()]);
  if (names.size === 0) {
    return <p class="empty">No operators: pods with the label app.kubernetes.io/managed-by=konverge show up here.</p>;
  }
  return (
    <div class="table-frame">
      <table class="controllers">
        <thead>
          <tr>
            <th scope="col">Controller</th>
            <th scope="col" class="number">
              Queue
            </th>
            <th scope="col" class="number">
              Reconciles/s
            </th>
            <th scope="col" class="number">
              Latency p95
            </th>
            <th scope="col" class="number">
              Errors/s
            </th>
            <th scope="col" class="number">
              Retries/s
            </th>
            <th scope="col" class="number">
              Writes/s
            </th>
            <th scope="col" class="number">
              Reconciles
            </th>
            <th scope="col">Last minutes</th>
          </tr>
        </thead>
        {[...names].sort().map((name) => (
          <OperatorRows
            key={name}
            name={name}
            deployment={deployments.find(({ operator }) => operator === name)}
            controllers={(byOperator.get(name) ?? []).sort((a, b) => (a.controller < b.controller ? -1 : 1))}
          />
        ))}
      </table>
    </div>
  );
}

/** A recording ends with few controllers at work: each is shown with its last numbers. */
function latestControllers(): ControllerSample[] {
  if (hello.value?.mode === "cluster") return lastMinute(samples.value);
  const found = new Map<string, ControllerSample>();
  for (const { controllers } of samples.value) for (const one of controllers) found.set(one.controller, one);
  return [...found.values()];
}

function OperatorRows({
  name,
  deployment,
  controllers,
}: {
  name: string;
  deployment: ObjectSummary | undefined;
  controllers: ControllerSample[];
}) {
  const hasReplicas = ({ controller }: ControllerSample) =>
    controllers.filter((one) => one.controller === controller).length > 1;
  return (
    <tbody>
      {name && (
        <tr class="group">
          <th colSpan={9} scope="rowgroup">
            {deployment && <StateMark state={deployment.state} />}
            {deployment ? <a href={linkTo("object", { id: deployment.id })}>{name}</a> : name}
            {deployment?.replicas && (
              <span class="muted">
                {" "}
                {deployment.replicas.ready}/{deployment.replicas.desired} pods
              </span>
            )}
            {deployment && deployment.state !== "ready" && <span class="muted"> {deployment.message}</span>}
            {controllers.length === 0 && <span class="muted"> has not reported yet</span>}
          </th>
        </tr>
      )}
      {controllers.map((one) => (
        <tr key={`${one.controller} ${one.pod}`}>
          <th scope="row">
            <a href={linkTo("timeline", { controller: one.controller })}>{one.controller}</a>
            {hasReplicas(one) && (
              <span class="muted">
                {" "}
                {one.pod}
                {one.leads !== undefined && (one.leads ? ", leader" : ", standby")}
              </span>
            )}
          </th>
          <td class="number" data-label="Queue">
            {one.depth ?? "–"}
          </td>
          <td class="number" data-label="Reconciles/s">
            {short(one.rate)}
          </td>
          <td class="number" data-label="Latency p95">
            {latency(one.p95)}
          </td>
          <td class={`number ${one.errors > 0 ? "bad" : ""}`} data-label="Errors/s">
            {short(one.errors)}
          </td>
          <td class="number" data-label="Retries/s">
            {short(one.retries)}
          </td>
          <td class="number" data-label="Writes/s">
            {short(one.writes)}
          </td>
          <td class="number" data-label="Reconciles">
            {one.total.toLocaleString("en-US")}
            {one.totalErrors > 0 && <span class="bad"> ({one.totalErrors} failed)</span>}
          </td>
          <td class="spark">
            <Sparkline values={ratesOf(one)} label={`Reconciles per second of ${one.controller}`} />
          </td>
        </tr>
      ))}
    </tbody>
  );
}

function ratesOf({ controller, pod }: ControllerSample): number[] {
  return samples.value
    .slice(hello.value?.mode === "recording" ? 0 : -90)
    .map(({ controllers }) => controllers.find((one) => one.controller === controller && one.pod === pod)?.rate ?? 0);
}

/** Objects that are not ready, those that failed first. */
function Attention() {
  const waiting = [...objects().values()]
    .filter(({ state }) => state === "failed" || state === "progressing")
    .sort((a, b) => Number(b.state === "failed") - Number(a.state === "failed") || (b.created ?? 0) - (a.created ?? 0));
  return (
    <section aria-labelledby="attention-title">
      <h2 id="attention-title">
        Not ready <span class="count">{waiting.length}</span>
      </h2>
      {waiting.length === 0 && <p class="empty">Everything is ready.</p>}
      <ul class="cards">
        {waiting.slice(0, ATTENTION).map((one) => (
          <li key={one.id}>
            <a class="card" href={linkTo("object", { id: one.id })}>
              <StateMark state={one.state} />
              <span class="grow">
                <span class="kind">{one.kind}</span> <strong>{keyOf(one)}</strong>
                <span class="message">{one.message || stateWord(one.state)}</span>
              </span>
            </a>
          </li>
        ))}
      </ul>
      {waiting.length > ATTENTION && (
        <a class="more" href={linkTo("resources", { state: "waiting" })}>
          All {waiting.length}
        </a>
      )}
    </section>
  );
}

function Activity() {
  const latest = latestEntries(entries.value, ACTIVITY);
  return (
    <section aria-labelledby="activity-title">
      <h2 id="activity-title">Activity</h2>
      {latest.length === 0 && <p class="empty">Nothing has happened since the console was started.</p>}
      <ol class="entries compact">
        {latest.map((entry) => (
          <EntryRow key={entry.id} entry={entry} />
        ))}
      </ol>
      <a class="more" href={linkTo("timeline")}>
        Timeline
      </a>
    </section>
  );
}
