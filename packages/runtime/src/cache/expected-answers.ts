import { type KubeObject, keyOf, type ObjectKey } from "@konverge/core";

/** What a watch tells about one object. */
export interface ObjectEvent<T extends KubeObject> {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: T;
}

interface Expectation<T extends KubeObject> {
  writes: number;
  readonly events: ObjectEvent<T>[];
}

/**
 * Watch events that arrived while an own write to the same object was in progress. Events and answers travel by
 * different connections, so that the echo of a write can come before its answer.
 */
export class ExpectedAnswers<T extends KubeObject> {
  readonly #expected = new Map<ObjectKey, Expectation<T>>();

  /** `replay` is called with what was put off, when the last write to the object is over. */
  expect(key: ObjectKey, replay: (event: ObjectEvent<T>) => void): () => void {
    const known = this.#expected.get(key);
    const expectation = known ?? { writes: 0, events: [] };
    expectation.writes++;
    if (!known) this.#expected.set(key, expectation);
    let over = false;
    return () => {
      if (over) return;
      over = true;
      if (--expectation.writes > 0) return;
      this.#expected.delete(key);
      for (const event of expectation.events) replay(event);
    };
  }

  /** True if the event has to wait. */
  putOff(event: ObjectEvent<T>): boolean {
    if (this.#expected.size === 0) return false;
    const expectation = this.#expected.get(keyOf(event.object));
    expectation?.events.push(event);
    return expectation !== undefined;
  }

  /** The events about an object that wait, in their order. */
  putOffOf(key: ObjectKey): readonly ObjectEvent<T>[] {
    return this.#expected.get(key)?.events ?? [];
  }

  /** What has been put off so far waits no longer: about one object, or (when a listing begins or ends) about all. */
  flush(replay: (event: ObjectEvent<T>) => void, key?: ObjectKey): void {
    const some = key === undefined ? [...this.#expected.values()] : [this.#expected.get(key)];
    for (const expectation of some) for (const event of expectation?.events.splice(0) ?? []) replay(event);
  }
}
