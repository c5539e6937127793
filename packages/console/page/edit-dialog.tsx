import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { parse } from "yaml";
import { objectDiff } from "../src/object-diff.ts";
import type { FieldDiff, ObjectSummary } from "../src/protocol.ts";
import { type JsonObject, pathOf, RequestError, request } from "./api.ts";
import { Diff } from "./entry-row.tsx";
import { Modal } from "./modal.tsx";
import { yamlText } from "./yaml-lines.ts";

/** What came of a dry run: what would change, or why it is refused. */
type Checked =
  | { readonly text: string; readonly diff: readonly FieldDiff[] }
  | { readonly text: string; readonly error: string; readonly causes: readonly string[] };

/** Edits an object as YAML. What is saved has passed a dry run of the API server, webhooks included. */
export function EditDialog({
  object,
  full,
  onClose,
}: {
  object: ObjectSummary;
  full: JsonObject;
  onClose: () => void;
}) {
  const before = useSignal(withoutManagers(full));
  const text = useSignal(`${yamlText(before.value)}\n`);
  const checked = useSignal<Checked | undefined>(undefined);
  const busy = useSignal(false);
  const area = useRef<HTMLTextAreaElement>(null);
  // Browsers put the cursor of a text that is set behind its end.
  useEffect(() => {
    area.current?.setSelectionRange(0, 0);
    area.current?.scrollTo(0, 0);
  }, []);
  const send = async (dryRun: boolean): Promise<void> => {
    const given = text.value;
    busy.value = true;
    try {
      const query = `fieldManager=konverge-console&fieldValidation=Strict${dryRun ? "&dryRun=All" : ""}`;
      const answer = await request("PUT", `${pathOf(object)}?${query}`, parse(given));
      if (!dryRun) return onClose();
      checked.value = { text: given, diff: objectDiff(before.value, withoutManagers(answer)) };
    } catch (error) {
      const causes = error instanceof RequestError ? error.causes.map(({ message = "" }) => message) : [];
      checked.value = { text: given, error: error instanceof Error ? error.message : String(error), causes };
    } finally {
      busy.value = false;
    }
  };
  const result = checked.value?.text === text.value ? checked.value : undefined;
  const canSave = result !== undefined && "diff" in result && result.diff.length > 0;
  return (
    <Modal title={`Edit ${object.kind} ${object.name}`} wide onClose={onClose}>
      <textarea
        ref={area}
        aria-label="YAML"
        spellcheck={false}
        value={text.value}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
        }}
      />
      {result && "error" in result && (
        <div class="refusal" role="alert">
          <strong>Refused</strong> {result.error}
        </div>
      )}
      {result && "diff" in result && (
        <div class="accepted" role="status">
          {result.diff.length === 0 ? "Nothing would change." : "The API server accepts this. It would change:"}
          <Diff diff={result.diff} more={0} />
        </div>
      )}
      <p class="buttons end">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class={canSave ? "" : "primary"} disabled={busy.value} onClick={() => void send(true)}>
          Check
        </button>
        <button type="button" class="primary" disabled={!canSave || busy.value} onClick={() => void send(false)}>
          Save
        </button>
      </p>
    </Modal>
  );
}

function withoutManagers(object: JsonObject): JsonObject {
  const { managedFields: _, ...metadata } = object["metadata"] as JsonObject;
  return { ...object, metadata };
}
