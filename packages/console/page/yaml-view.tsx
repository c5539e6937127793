import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ObjectName } from "../src/protocol.ts";
import type { JsonObject } from "./api.ts";
import { fieldDescriptions } from "./field-descriptions.ts";
import { fieldOwners, type ManagedFields } from "./field-owners.ts";
import { hello } from "./store.ts";
import { type YamlLine, yamlLines, yamlText } from "./yaml-lines.ts";

/** How many colors there are for managers. */
const COLORS = 6;

/** The object as YAML: with who owns each field, and what the schema says about the field under the pointer. */
export function YamlView({ object, full }: { object: ObjectName; full: JsonObject }) {
  const owned = useSignal(false);
  const revealed = useSignal(false);
  const described = useSignal("");
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
  const show = (line: YamlLine) => {
    described.value = describe.value?.(line.path) ?? "";
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
            </li>
          ))}
        </ul>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard must be able to. */}
      <section class="scroll" tabIndex={0} aria-label={`YAML of ${object.kind} ${object.name}`}>
        <pre>
          {yamlLines(shown).map((line) => (
            <Line
              key={line.path.join("\u0000")}
              line={line}
              owners={owned.value ? ownersOf(line.path) : undefined}
              managers={managers}
              onShow={show}
            />
          ))}
        </pre>
      </section>
      <p class="description" role="status">
        {described.value || (describe.value ? "Point at a field to read what it means." : "")}
      </p>
    </div>
  );
}

interface LineProps {
  readonly line: YamlLine;
  readonly owners: readonly string[] | undefined;
  readonly managers: readonly string[];
  readonly onShow: (line: YamlLine) => void;
}

function Line({ line, owners, managers, onShow }: LineProps) {
  const { indent, dash, key, value, type } = line;
  const owner = owners?.[0];
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: what the pointer shows is also in the API reference; nothing is done by it.
    <span
      class={`yaml-line ${owner === undefined ? "" : `owner-${managers.indexOf(owner) % COLORS}`}`}
      onMouseEnter={() => onShow(line)}
    >
      <span>
        {" ".repeat(indent - (dash ? 2 : 0))}
        {dash && "- "}
        {key !== undefined && <span class="key">{key}</span>}
        {key !== undefined && ":"}
        {value !== undefined && <span class={type}>{key === undefined ? value : ` ${value}`}</span>}
      </span>
      {owners && value !== undefined && <span class="owner">{owners.join(", ")}</span>}
      {"\n"}
    </span>
  );
}

function hidden(data: unknown): unknown {
  return Object.fromEntries(Object.keys((data ?? {}) as object).map((key) => [key, "(hidden)"]));
}
