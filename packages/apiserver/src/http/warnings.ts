/** The most characters that all warnings of an answer have; beyond it each is cut. */
const MOST_CHARACTERS = 4 * 1024;
/** The most that each then has. */
const CUT_TO = 256;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/**
 * The warnings of one answer. Headers have limits that are soon reached when a body has thousands of unknown fields: like a
 * real API server, all warnings are sent while they are short in all, and then the first of them, each cut.
 */
export class Warnings {
  readonly #known = new Set<string>();
  #written: string[] = [];
  #characters = 0;
  #cutting = false;

  /** Notes a warning; one that was noted before, or that no header can carry, is left out. */
  add(text: string): void {
    if (text === "" || (this.#cutting && this.#characters >= MOST_CHARACTERS) || this.#known.has(text)) return;
    this.#known.add(text);
    if (CONTROL.test(text)) return;
    this.#write(text);
    if (this.#cutting || this.#characters <= MOST_CHARACTERS) return;
    this.#cutting = true;
    this.#characters = 0;
    const whole = this.#written;
    this.#written = [];
    for (const each of whole) this.#write(each);
  }

  /** The values of the Warning header. */
  headers(): string[] {
    return this.#written.map((text) => `299 - "${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`);
  }

  #write(text: string): void {
    const characters = text.length > CUT_TO ? [...text] : text;
    const isCut = this.#cutting && characters.length > CUT_TO;
    this.#written.push(isCut ? (characters as string[]).slice(0, CUT_TO).join("") : text);
    this.#characters += isCut ? CUT_TO : characters.length;
  }
}
