import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ObjectSummary } from "../src/protocol.ts";
import { isAllowed } from "./api.ts";

/** A command that was run, and what came of it. */
interface Run {
  readonly command: string;
  readonly output: string;
  readonly bad: boolean;
}

/** Runs commands in a container, one at a time and without input. */
export function ExecView({ object }: { object: ObjectSummary }) {
  const command = useSignal("");
  const busy = useSignal(false);
  const runs = useSignal<readonly Run[]>([]);
  const allowed = useSignal<boolean | undefined>(undefined);
  useEffect(() => {
    void isAllowed(object, "create", "exec").then((is) => {
      allowed.value = is;
    });
  }, [object.id]);
  const run = async () => {
    const given = command.value;
    busy.value = true;
    const done = await execute(object, given);
    runs.value = [...runs.value, { command: given, ...done }].slice(-20);
    command.value = "";
    busy.value = false;
  };
  if (allowed.value === undefined) return null;
  if (!allowed.value)
    return <p class="empty">You have no permission to run commands in this pod (create pods/exec).</p>;
  return (
    <div class="exec">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <label class="grow">
          <span class="unseen">Command</span>
          <input
            type="search"
            placeholder="Command"
            value={command.value}
            onInput={({ currentTarget }) => {
              command.value = currentTarget.value;
            }}
          />
        </label>
        <button type="submit" class="primary" disabled={busy.value || command.value === ""}>
          Run
        </button>
      </form>
      <ol class="runs" aria-live="polite">
        {runs.value.toReversed().map((one, i) => (
          <li key={runs.value.length - i}>
            <code>$ {one.command}</code>
            <pre class={one.bad ? "bad" : ""}>{one.output}</pre>
          </li>
        ))}
      </ol>
    </div>
  );
}

async function execute(object: ObjectSummary, command: string): Promise<Omit<Run, "command">> {
  const body = JSON.stringify({
    namespace: object.namespace,
    pod: object.name,
    container: object.pod?.containers[0],
    command,
  });
  const response = await fetch("/console/exec", {
    method: "POST",
    body,
    headers: { "content-type": "application/json" },
  });
  const answer = (await response.json()) as { code?: number; stdout?: string; stderr?: string; message?: string };
  if (!response.ok) return { output: answer.message ?? response.statusText, bad: true };
  const { code = 0, stdout = "", stderr = "" } = answer;
  return { output: `${stdout}${stderr}${code === 0 ? "" : `exit code ${code}`}`, bad: code !== 0 };
}
