/** Text that is not YAML, or YAML that is not JSON. */
export class YamlError extends Error {
  override readonly name = "YamlError";
  readonly code = "KONVERGE_YAML";
  /** From 1. */
  readonly line: number;
  readonly column: number;

  /** `text` is the message of Kubernetes' library; line and column count from 0. */
  constructor(text: string, place: { line: number; column: number }) {
    super(text);
    this.line = place.line + 1;
    this.column = place.column + 1;
  }
}

/** What is wrong, and in which line: the library counts lines from 0 here and there, and never names line 0. */
export function problemInLine(problem: string, line: number): string {
  return line > 0 ? `yaml: line ${line}: ${problem}` : `yaml: ${problem}`;
}

/** A text that has more parts than its reader takes. */
export class YamlLimitError extends Error {
  override readonly name = "YamlLimitError";
  readonly code = "KONVERGE_YAML_LIMIT";

  constructor(limit: number) {
    super(`the text has more than ${limit} keys and values`);
  }
}
