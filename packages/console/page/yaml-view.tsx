import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { FieldDiff, ObjectName } from "../src/protocol.ts";
import type { JsonObject } from "./api.ts";
import { Diff } from "./entry-row.tsx";
import { fieldDescriptions } from "./field-descriptions.ts";
import { fieldOwners, type ManagedFields } from "./field-owners.ts";
import { entries, hello, shownTime } from "./store.ts";
import { type YamlLine, yamlLines, yamlText } from "./yaml-lines.ts";

/** How many colors there are for managers. */
const COLORS = 6;

/**
 * The object as YAML: with who owns each field, what each field manager last changed, and what the schema says about the field
 * under the pointer, or at which the arrow keys are.
 */
export function YamlView({ object, full }: { object: ObjectName; full: JsonObject }) {
  const owned = useSignal(false);
  const revealed = useSignal(false);
  const chosen = useSignal<number | undefined>(undefined);
  const describe = useSignal<((path: YamlLine["path"]) => string) | undefined>(undefined);
  useEffect(() => {
    if (hello.value?.mode !== "cluster") return;
    void fieldDescriptions(object).then((found) => {
      describe.value = found;
    });
  }, [object.group, object.version, object.kind]);
  const { managedFields = [], ...metadata } = full["metadata"] as { managedFields?: ManagedFields[] };
  const isSecret = object.group === "" && object.kind === "Secret";
  const shown = { ...full, metadata, ...(isSecret && !revealed.value && { data: hidden(full["data"]) }) };
  const ownersOf = fieldOwners(full, managedFields);
  const managers = [...new Set(managedFields.map(({ manager = "unknown" }) => manager))];
  const lines = yamlLines(shown);
  const current = chosen.value === undefined ? undefined : lines[chosen.value];
  const move = (event: KeyboardEvent & { currentTarget: HTMLElement }) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = Math.min(lines.length - 1, Math.max(0, (chosen.value ?? -1) + step));
    chosen.value = next;
    event.currentTarget.querySelectorAll(".yaml-line")[next]?.scrollIntoView({ block: "nearest" });
  };
  return (
    <div class={`yaml ${owned.value ? "owned" : ""}`}>
      <div class="toolbar">
        {managers.length > 0 && (
          <label>
            <input
              type="checkbox"
              checked={owned.value}
              onChange={({ currentTarget }) => {
                owned.value = currentTarget.checked;
              }}
            />{" "}
            Who owns each field
          </label>
        )}
        {isSecret && (
          <label>
            <input
              type="checkbox"
              checked={revealed.value}
              onChange={({ currentTarget }) => {
                revealed.value = currentTarget.checked;
              }}
            />{" "}
            Show values
          </label>
        )}
        <button type="button" onClick={() => void navigator.clipboard.writeText(`${yamlText(shown)}\n`)}>
          Copy
        </button>
      </div>
      {owned.value && (
        <ul class="managers" aria-label="Field managers">
          {managedFields.map(({ manager = "unknown", operation, subresource, time }, i) => (
            <li key={i} class={`owner-${managers.indexOf(manager) % COLORS}`}>
              <strong>{manager}</strong>{" "}
              <span class="muted">
                {operation === "Apply" ? "applies" : "updates"}
                {subresource && ` ${subresource}`}, last {time?.slice(11, 19)}
              </span>
              <LastChange diff={lastDiff(object.id, manager, subresource)} />
            </li>
          ))}
        </ul>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard must be able to. */}
      <section class="scroll" tabIndex={0} aria-label={`YAML of ${object.kind} ${object.name}`} onKeyDown={move}>
        <pre>
          {lines.map((line, i) => (
            <Line
              key={line.path.join("\u0000")}
              line={line}
              owners={owned.value ? ownersOf(line.path) : undefined}
              managers={managers}
              current={i === chosen.value}
              onShow={() => {
                chosen.value = i;
              }}
            />
          ))}
        </pre>
      </section>
      <p class="description" role="status">
        {(current && describe.value?.(current.path)) ||
          (describe.value ? "Point at a field, or go there with the arrow keys, to read what it means." : "")}
      </p>
    </div>
  );
}

interface LineProps {
  readonly line: YamlLine;
  readonly owners: readonly string[] | undefined;
  readonly managers: readonly string[];
  readonly current: boolean;
  readonly onShow: () => void;
}

function Line({ line, owners, managers, current, onShow }: LineProps) {
  const { indent, dash, key, value, type } = line;
  const owner = owners?.[0];
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the arrow keys show the same.
    <span
      class={`yaml-line ${current ? "current" : ""} ${owner === undefined ? "" : `owner-${managers.indexOf(owner) % COLORS}`}`}
      onMouseEnter={onShow}
    >
      <span>
        {" ".repeat(indent - (dash ? 2 : 0))}
        {dash && "- "}
        {key !== undefined && <span class="key">{key}</span>}
        {key !== undefined && ":"}
        {value !== undefined && <span class={type}>{key === undefined ? value : ` ${value}`}</span>}
      </span>
      {owners && owners.length > 0 && value !== undefined && <span class="owner">{owners.join(", ")}</span>}
      {"\n"}
    </span>
  );
}

/** What a field manager changed when it last wrote the object, or its status: as the timeline knows it. */
function lastDiff(id: string, manager: string, subresource = ""): readonly FieldDiff[] {
  const until = shownTime.value ?? Number.POSITIVE_INFINITY;
  const isOf = ({ path }: FieldDiff) => path.startsWith("status") === (subresource === "status");
  const last = entries.value.findLast(
    (entry) =>
      entry.type === "change" &&
      entry.object.id === id &&
      entry.by === manager &&
      entry.at <= until &&
      entry.diff.some(isOf),
  );
  return last?.type === "change" ? last.diff : [];
}

function LastChange({ diff }: { diff: readonly FieldDiff[] }) {
  if (diff.length === 0) return null;
  return (
    <details>
      <summary>{diff.length === 1 ? "1 field changed" : `${diff.length} fields changed`}</summary>
      <Diff diff={diff} more={0} />
    </details>
  );
}

function hidden(data: unknown): unknown {
  return Object.fromEntries(Object.keys((data ?? {}) as object).map((key) => [key, "(hidden)"]));
}
