import type { ObjectState } from "../src/protocol.ts";

const WORDS: Readonly<Record<ObjectState, string>> = {
  ready: "Ready",
  done: "Succeeded",
  progressing: "Progressing",
  failed: "Failed",
  terminating: "Terminating",
  paused: "Paused",
};
/** Shapes as well as colors: not everyone can distinguish the colors. */
const SHAPES: Readonly<Record<ObjectState, string>> = {
  ready: "M3 8.5l3.2 3L13 4.5",
  done: "M3 8.5l3.2 3L13 4.5",
  progressing: "M8 3.5a4.5 4.5 0 1 1-4.3 3.2",
  failed: "M4.5 4.5l7 7M11.5 4.5l-7 7",
  terminating: "M4 8h8",
  paused: "M6 4v8M10 4v8",
};

export const stateWord = (state: ObjectState): string => WORDS[state];

/** The state of an object as a small sign. */
export function StateMark({ state, label = true }: { state: ObjectState; label?: boolean }) {
  return (
    <span class={`mark ${state}`} title={WORDS[state]}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={SHAPES[state]} />
      </svg>
      {label && <span class="unseen">{WORDS[state]}</span>}
    </span>
  );
}
