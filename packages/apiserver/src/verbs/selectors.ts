import {
  type ApiError,
  badRequest,
  exactFieldValue,
  type FieldRequirement,
  matchesFields,
  matchesLabels,
  parseFieldSelector,
  parseLabelSelector,
  SelectorError,
} from "@konverge/core";
import { type Call, requestVersion } from "../call/call.ts";
import { refreshed, textOf } from "../call/stored.ts";
import { objectOf } from "../resources/stored-object.ts";
import type { Entry } from "../storage/entry.ts";

/** Which entries a list or watch is about. */
export interface Selection {
  /** `namespace/` or the empty string. */
  readonly prefix: string;
  /** Everything below the prefix is selected. */
  readonly all: boolean;
  /** A promise where the object has to be converted first: fields are those of the version of the request. */
  matches(entry: Entry): boolean | Promise<boolean>;
}

/** Reads the selectors of a request; a name in the path (of a watch) selects too. */
export function selectionOf(call: Call): Selection {
  const { info, definition } = call;
  const byLabel = parsed(() => parseLabelSelector(info.query.get("labelSelector") ?? ""));
  const byField = fieldsSelected(call);
  const namespace = info.namespace || exactFieldValue(byField, "metadata.namespace") || "";
  return {
    prefix: definition.namespaced && namespace ? `${namespace}/` : "",
    all: byLabel.length === 0 && byField.length === 0,
    matches(entry) {
      if (byLabel.length > 0 && !matchesLabels(byLabel, entry.labels)) return false;
      if (byField.length === 0) return true;
      const fields = ownFields(call, entry, byField);
      const place = placeOf(entry);
      if (!(fields instanceof Promise)) return matchesFields(byField, { ...fields, ...place });
      return fields.then((found) => matchesFields(byField, { ...found, ...place }));
    },
  };
}

function fieldsSelected(call: Call): readonly FieldRequirement[] {
  const { info, version } = call;
  const requirements = parsed(() => parseFieldSelector(info.query.get("fieldSelector") ?? ""));
  const known = new Set(["metadata.name", "metadata.namespace", ...version.selectableFields]);
  for (const { field } of requirements) {
    if (!known.has(field)) throw unknownField(call, field);
  }
  if (info.name === "") return requirements;
  if (requirements.length === 0) return [{ field: "metadata.name", operator: "=", value: info.name }];
  if (exactFieldValue(requirements, "metadata.name") !== info.name) {
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
  }
  return requirements;
}

/** Kinds that name their fields themselves have other messages. */
const OWN_WORDS: Record<string, (field: string) => string> = {
  "batch/jobs": (field) => `field label ${JSON.stringify(field)} not supported for Job`,
  "resource.k8s.io/resourceslices": (field) =>
    `field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: ${field}`,
};

function unknownField({ definition, version }: Call, field: string): ApiError {
  const own = OWN_WORDS[`${definition.group}/${definition.plural}`];
  if (own) return badRequest(own(field));
  const hasOwn = version.selectableFields.some((name) => !name.startsWith("metadata."));
  if (definition.custom || hasOwn) return badRequest(`field label not supported: ${field}`);
  const known = '"metadata.name", "metadata.namespace"';
  return badRequest(`${JSON.stringify(field)} is not a known field selector: only ${known}`);
}

function parsed<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw error instanceof SelectorError ? badRequest(error.message) : error;
  }
}

type Fields = Readonly<Record<string, string>>;

function ownFields(
  call: Call,
  entry: Entry,
  wanted: readonly FieldRequirement[],
): Fields | undefined | Promise<Fields | undefined> {
  const { definition } = call;
  if (!definition.custom) return entry.fields;
  if (wanted.every(({ field }) => field.startsWith("metadata."))) return undefined;
  // Which fields of a custom resource can be selected by may have changed since it was stored.
  const stored = objectOf(entry);
  if (stored.apiVersion === requestVersion(call)) return definition.strategy.fields?.(refreshed(definition, stored));
  return inVersion(call, entry);
}

async function inVersion(call: Call, entry: Entry): Promise<Fields | undefined> {
  return call.definition.strategy.fields?.(JSON.parse(await textOf(call, entry)));
}

function placeOf({ key }: Entry): Fields {
  const slash = key.indexOf("/");
  return { "metadata.name": key.slice(slash + 1), "metadata.namespace": slash < 0 ? "" : key.slice(0, slash) };
}
