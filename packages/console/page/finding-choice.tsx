import { route, setQuery } from "./route.ts";
import { entries, hello, showTime } from "./store.ts";

/** The number of the finding that is shown, from 0; undefined if this is no exploration. */
export function shownFinding(): number | undefined {
  const { findings } = hello.value!;
  if (!findings) return undefined;
  const chosen = Number(route.value.query.get("finding") ?? 0);
  return findings[chosen] ? chosen : 0;
}

/** What the fault explorer found, and the way to its faults. */
export function FindingChoice() {
  const { findings = [] } = hello.value!;
  const shown = shownFinding();
  const finding = shown === undefined ? undefined : findings[shown];
  if (!finding) return null;
  const choose = (index: string) => {
    setQuery({ finding: index, entry: undefined, at: undefined });
    void showTime(undefined);
  };
  return (
    <section class="finding" aria-label="Finding">
      {findings.length > 1 && (
        <select
          aria-label="Finding"
          value={String(shown)}
          onChange={({ currentTarget }) => choose(currentTarget.value)}
        >
          {findings.map(({ oracle, message }, i) => (
            <option key={i} value={String(i)}>
              {i + 1}. {oracle}: {message}
            </option>
          ))}
        </select>
      )}
      <p>
        <strong>{finding.oracle}</strong>: {finding.message} <span class="muted">seed {finding.seed}</span>
      </p>
      <Faults finding={shown!} />
    </section>
  );
}

function Faults({ finding }: { finding: number }) {
  const faults = entries.value.filter(
    (entry) => entry.type === "step" && entry.step === "fault" && entry.finding === finding,
  );
  if (faults.length === 0) return <p class="muted">It happens without any fault.</p>;
  return (
    <ul>
      {faults.map((entry) => (
        <li key={entry.id}>
          <button
            type="button"
            onClick={() => {
              setQuery({ entry: String(entry.id), at: String(entry.at) });
              void showTime(entry.at);
            }}
          >
            Go to the fault
          </button>{" "}
          {entry.type === "step" && entry.what}
        </li>
      ))}
    </ul>
  );
}
