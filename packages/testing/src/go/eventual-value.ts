type Callback = (value: unknown) => void;

/**
 * A value that comes later, for Go code that waits for one with `then`. Unlike a promise it calls back at once, within the turn in
 * which the value came: the order of a process's turns is the clock's alone.
 */
export class EventualValue {
  #state: { readonly type: "value" | "error"; readonly content: unknown } | undefined;
  readonly #waiting: [Callback | undefined, Callback | undefined][] = [];

  get isSettled(): boolean {
    return this.#state !== undefined;
  }

  then(resolved?: Callback, rejected?: Callback): void {
    this.#waiting.push([resolved, rejected]);
    this.#callBack();
  }

  resolve(content: unknown): void {
    this.#settle({ type: "value", content });
  }

  reject(content: unknown): void {
    this.#settle({ type: "error", content });
  }

  /** Those who wait, so that a copy of their process can be called back. */
  get waiting(): readonly (readonly [Callback | undefined, Callback | undefined])[] {
    return this.#waiting;
  }

  #settle(state: { type: "value" | "error"; content: unknown }): void {
    if (this.#state) return;
    this.#state = state;
    this.#callBack();
  }

  #callBack(): void {
    const state = this.#state;
    if (!state) return;
    for (const [resolved, rejected] of this.#waiting.splice(0)) {
      (state.type === "value" ? resolved : rejected)?.(state.content);
    }
  }
}
