import { GrowingList, GrowingMap, ListValue, MapValue } from "../values/collections.ts";
import { CelError, CelList, CelMap, goTypeName, isError, type Value } from "../values/values.ts";
import type { Evaluate } from "./attributes.ts";
import type { Frame } from "./frame.ts";

interface Loop {
  /** The accumulator's slot; those of the loop's variables follow. */
  readonly slot: number;
  readonly range: Evaluate;
  readonly hasTwo: boolean;
  readonly condition: Evaluate;
  readonly step: Evaluate;
  readonly result: Evaluate;
}

/** A loop over a list or a map. It ends early when its condition is false; an error in the condition does not end it. */
export function planLoop({ slot, range, hasTwo, condition, step, result }: Loop): Evaluate {
  const run = (frame: Frame, first: Value, second: Value | undefined): boolean => {
    const { slots } = frame;
    slots[slot + 1] = first;
    slots[slot + 2] = second;
    if (condition(frame) === false) return false;
    slots[slot] = step(frame);
    return true;
  };
  return (frame) => {
    const over = range(frame);
    if (isError(over)) return over;
    // Loops inside loops run more than once: each run begins without an accumulator.
    frame.slots[slot] = undefined;
    if (over instanceof CelList) {
      const { size } = over;
      for (let i = 0; i < size; i++)
        if (!(hasTwo ? run(frame, BigInt(i), over.at(i)) : run(frame, over.at(i), undefined))) break;
    } else if (over instanceof CelMap) {
      for (const key of over.keys()) if (!run(frame, key, hasTwo ? over.find(key)! : undefined)) break;
    } else return notIterable(over, hasTwo);
    return finished(result(frame));
  };
}

function notIterable(value: Value, hasTwo: boolean): CelError {
  const type = goTypeName(value);
  return new CelError(
    hasTwo ? `unsupported comprehension range type: ${type}` : `got '${type}', expected iterable type`,
  );
}

/** What a loop has built does not change any more once it ends. */
function finished(value: Value): Value {
  if (value instanceof GrowingList) return new ListValue(value.items);
  if (!(value instanceof GrowingMap)) return value;
  const map = new MapValue();
  for (const key of value.keys()) map.set(key, value.find(key)!);
  return map;
}
