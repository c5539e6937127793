import type { Activity } from "./operator-activity.ts";

/** A sample object, and how far it is. */
export interface Row {
  readonly name: string;
  readonly done: boolean;
  readonly message: string;
}

/** Where a view is shown. */
export interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** What converges and what operators do: redrawn on a terminal, printed line by line elsewhere. */
export class LiveView {
  readonly #screen: Screen;
  readonly #printed = new Map<string, string>();
  #drawn = 0;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  show(rows: readonly Row[], activities: readonly Activity[]): void {
    if (this.#screen.isTTY) this.#redraw(rows, activities);
    else this.#printChanges(rows);
  }

  /** Something that happened; a terminal shows it in the operator's line instead. */
  tell(operator: string, text: string): void {
    if (!this.#screen.isTTY) this.#screen.write(`${operator.padEnd(20)} ${text}\n`);
  }

  #redraw(rows: readonly Row[], activities: readonly Activity[]): void {
    const lines = [
      ...rows.map(({ name, done, message }) => `${done ? "✔" : "…"} ${name.padEnd(52)} ${message}`),
      "",
      ...activities.map(
        ({ operator, writes, last }) => `  ${operator.padEnd(20)} ${String(writes).padStart(4)} writes  ${last}`,
      ),
    ];
    const width = (this.#screen.columns ?? 120) - 1;
    const up = this.#drawn > 0 ? `\x1b[${this.#drawn}A` : "";
    this.#screen.write(up + lines.map((line) => `\x1b[2K${line.slice(0, width)}\n`).join(""));
    this.#drawn = lines.length;
  }

  #printChanges(rows: readonly Row[]): void {
    for (const { name, done, message } of rows) {
      const line = `${done ? "converged" : "waiting"}`.padEnd(20);
      const text = `${line} ${name}: ${message}`;
      if (this.#printed.get(name) !== text) this.#screen.write(`${text}\n`);
      this.#printed.set(name, text);
    }
  }
}
