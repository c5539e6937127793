/** A line of YAML, and the field that it shows. */
export interface YamlLine {
  readonly indent: number;
  /** `- ` before the first field of a list item. */
  readonly dash: boolean;
  readonly key?: string;
  readonly value?: string;
  readonly type: "text" | "number" | "word" | "none";
  /** Names and indexes from the root. */
  readonly path: readonly (string | number)[];
}

const PLAIN = /^[A-Za-z0-9_/][A-Za-z0-9_./@:+=-]*( [A-Za-z0-9_./@+=,()-]+)*$/;
const READ_AS_ANOTHER_TYPE = /^(true|false|null|yes|no|on|off|~|[-+.]?\d[\d_.eE+:-]*|0x[\da-f]+|0o[0-7]+)$/i;

/** An object as lines of YAML that parse to the same object. */
export function yamlLines(value: unknown): YamlLine[] {
  const lines: YamlLine[] = [];
  if (isRecord(value)) writeRecord(value, 0, [], false, lines);
  return lines;
}

export function yamlText(value: unknown): string {
  return yamlLines(value)
    .map(({ indent, dash, key, value: text }) => {
      const start = `${" ".repeat(indent - (dash ? 2 : 0))}${dash ? "- " : ""}`;
      return `${start}${key === undefined ? "" : `${scalar(key)}:${text === undefined ? "" : " "}`}${text ?? ""}`;
    })
    .join("\n");
}

function writeRecord(record: object, indent: number, path: YamlLine["path"], dash: boolean, lines: YamlLine[]): void {
  let first = dash;
  for (const [key, value] of Object.entries(record)) {
    if (value === undefined) continue;
    const at = [...path, key];
    const common = { indent, dash: first, key, path: at };
    first = false;
    if (isRecord(value) && Object.keys(value).length > 0) {
      lines.push({ ...common, type: "none" });
      writeRecord(value, indent + 2, at, false, lines);
    } else if (Array.isArray(value) && value.length > 0) {
      lines.push({ ...common, type: "none" });
      writeList(value, indent, at, lines);
    } else lines.push({ ...common, value: scalar(value), type: typeOf(value) });
  }
}

function writeList(list: readonly unknown[], indent: number, path: YamlLine["path"], lines: YamlLine[]): void {
  for (const [i, item] of list.entries()) {
    const at = [...path, i];
    if (isRecord(item) && Object.keys(item).length > 0) writeRecord(item, indent + 2, at, true, lines);
    // JSON is YAML, and lists in lists are rare.
    else lines.push({ indent: indent + 2, dash: true, value: scalar(item), type: typeOf(item), path: at });
  }
}

function scalar(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value) ?? "null";
  return PLAIN.test(value) && !READ_AS_ANOTHER_TYPE.test(value) && !value.endsWith(":") && !/: /.test(value)
    ? value
    : JSON.stringify(value);
}

function typeOf(value: unknown): YamlLine["type"] {
  if (typeof value === "string") return "text";
  return typeof value === "number" ? "number" : "word";
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
