import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { ObjectSummary } from "../src/protocol.ts";

const KEPT_LINES = 2000;

/** The log of a container, as it is written. */
export function LogView({ object }: { object: ObjectSummary }) {
  const containers = object.pod?.containers ?? [];
  const container = useSignal(containers[0] ?? "");
  const lines = useSignal<readonly string[]>([]);
  const error = useSignal("");
  const box = useRef<HTMLElement>(null);
  const { namespace = "", name } = object;
  useEffect(() => {
    const leave = new AbortController();
    lines.value = [];
    error.value = "";
    const query = new URLSearchParams({ namespace, pod: name, container: container.value });
    void follow(`/console/logs?${query}`, leave.signal, (text) => {
      lines.value = [...lines.value, ...text].slice(-KEPT_LINES);
    }).catch((cause: unknown) => {
      if (!leave.signal.aborted) error.value = cause instanceof Error ? cause.message : String(cause);
    });
    return () => leave.abort();
  }, [namespace, name, container.value]);
  const isAtEnd = !box.current || box.current.scrollTop + box.current.clientHeight >= box.current.scrollHeight - 40;
  useEffect(() => {
    if (isAtEnd && box.current) box.current.scrollTop = box.current.scrollHeight;
  });
  return (
    <div class="log">
      {containers.length > 1 && (
        <label>
          Container{" "}
          <select
            value={container.value}
            onChange={({ currentTarget }) => {
              container.value = currentTarget.value;
            }}
          >
            {containers.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
      )}
      {error.value && <p class="bad">{error.value}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard must be able to. */}
      <section class="scroll" ref={box} tabIndex={0} aria-label={`Log of ${name}`}>
        <pre>
          {lines.value.length === 0 && !error.value && "The log is empty."}
          {lines.value.map((line, i) => (
            <LogLine key={i} text={line} />
          ))}
        </pre>
      </section>
    </div>
  );
}

/** A line of JSON as people read it, with what it says first; any other line as it is. */
function LogLine({ text }: { text: string }) {
  const parsed = text.startsWith("{") ? fieldsOf(text) : undefined;
  if (!parsed) return <span>{`${text}\n`}</span>;
  const { time, level, msg, ...rest } = parsed;
  const tone = level === "error" || level === "fatal" ? "bad" : level === "warn" ? "warn" : "";
  const more = Object.entries(rest).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return (
    <span>
      <span class="muted">{String(time ?? "").slice(11, 23)}</span> <span class={tone}>{String(msg ?? "")}</span>{" "}
      <span class="muted">{more.join(" ")}</span>
      {"\n"}
    </span>
  );
}

function fieldsOf(text: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text) as Record<string, unknown>;
    return typeof value["msg"] === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

async function follow(url: string, signal: AbortSignal, take: (lines: string[]) => void): Promise<void> {
  const response = await fetch(url, { signal });
  if (!response.ok || !response.body) throw new Error((await response.text()).trim());
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n");
    rest = parts.pop() ?? "";
    if (parts.length > 0) take(parts);
  }
}
