import { colored, fitted, type Screen, wrapped } from "../terminal.ts";
import type { Activity } from "./operator-activity.ts";

export type { Screen } from "../terminal.ts";

/** An object, and how far it is. */
export interface Row {
  readonly name: string;
  readonly done: boolean;
  readonly message: string;
}

/** What converges, what operators do and what fails: redrawn on a terminal, printed line by line elsewhere. */
export class LiveView {
  readonly #screen: Screen;
  readonly #printed = new Map<string, string>();
  #drawn = 0;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  show(rows: readonly Row[], activities: readonly Activity[], problems: readonly string[] = []): void {
    if (this.#screen.isTTY) this.#redraw(rows, activities, problems);
    else this.#printChanges(rows);
  }

  /** Something that happened; a terminal shows it in the operator's line instead. */
  tell(operator: string, text: string): void {
    if (!this.#screen.isTTY) this.#screen.write(`${operator.padEnd(20)} ${text}\n`);
  }

  #redraw(rows: readonly Row[], activities: readonly Activity[], problems: readonly string[]): void {
    const screen = this.#screen;
    const width = (screen.columns ?? 120) - 1;
    const tail = [
      "",
      ...activities.map(
        ({ operator, reconciles, writes, last }) =>
          `  ${operator.padEnd(20)} ${reconciles === undefined ? "" : `${String(reconciles).padStart(4)} reconciles `}${String(writes).padStart(4)} writes  ${last}`,
      ),
      ...(problems.length > 0 ? [""] : []),
      ...problems.flatMap((problem) => wrapped(`✖ ${problem}`, width).map((line) => colored(screen, "red", line))),
    ];
    // What is above the first line of the terminal can no longer be drawn again.
    const room = Math.max(1, (screen.rows ?? 1_000) - tail.length - 2);
    const shown = rows.slice(0, rows.length > room ? room - 1 : room);
    const lines = [
      ...shown.map(({ name, done, message }) => {
        return `${done ? colored(screen, "green", "✔") : "…"} ${name.padEnd(52)} ${message}`;
      }),
      ...(shown.length < rows.length ? [`  and ${rows.length - shown.length} more`] : []),
      ...tail,
    ];
    const up = this.#drawn > 0 ? `\x1b[${this.#drawn}A` : "";
    const text = lines.map((line) => `\x1b[2K${fitted(line, width)}\n`).join("");
    // Lines of the last drawing that are no longer needed are cleared.
    screen.write(`${up}${text}${lines.length < this.#drawn ? "\x1b[0J" : ""}`);
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
