// The steps of KUDO's integration tests, which are written for kuttl: folders of numbered files with objects to apply, commands to run,
// and objects that there are to be, or not to be, afterwards.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type AnyObject, isObject } from "@konverge/core";
import { parseYaml } from "@konverge/schema";

/** A step of a test. */
export interface TestStep {
  readonly number: string;
  readonly commands: readonly { readonly command: string; readonly namespaced?: boolean }[];
  readonly objects: readonly AnyObject[];
  readonly expected: readonly AnyObject[];
  readonly unexpected: readonly AnyObject[];
}

/** The steps in a folder, in their order. */
export function stepsIn(folder: string): TestStep[] {
  const files = readdirSync(folder).flatMap((name) => {
    const [, number, what] = /^(\d+)-(.*)\.yaml$/.exec(name) ?? [];
    return number === undefined ? [] : [{ number, what: what!, objects: objectsIn(join(folder, name)) }];
  });
  const numbers = [...new Set(files.map(({ number }) => number))].sort();
  return numbers.map((number) => {
    const of = (test: (what: string) => boolean) =>
      files.filter((file) => file.number === number && test(file.what)).flatMap(({ objects }) => objects);
    const given = of((what) => what !== "assert" && what !== "errors");
    const isStep = ({ kind }: AnyObject) => kind === "TestStep";
    const commands = given
      .filter(isStep)
      .flatMap((step) => (step as { commands?: TestStep["commands"] }).commands ?? []);
    return {
      number,
      commands,
      objects: given.filter((object) => !isStep(object)),
      expected: of((what) => what === "assert"),
      unexpected: of((what) => what === "errors"),
    };
  });
}

/** The objects in a file. */
export function objectsIn(file: string): AnyObject[] {
  return parseYaml(readFileSync(file, "utf8")).filter(isObject) as AnyObject[];
}

/** The first place where an object has not what is expected; undefined if it has. Lists have to be of the same length. */
export function difference(expected: unknown, live: unknown, path = ""): string | undefined {
  if (Array.isArray(expected)) {
    if (!Array.isArray(live) || live.length !== expected.length)
      return `${path}: ${text(live)} instead of ${text(expected)}`;
    return firstOf(expected.map((one, index) => () => difference(one, live[index], `${path}[${index}]`)));
  }
  if (isObject(expected)) {
    if (!isObject(live)) return `${path}: ${text(live)} instead of ${text(expected)}`;
    return firstOf(
      Object.entries(expected).map(
        ([name, one]) =>
          () =>
            difference(one, live[name], `${path}.${name}`),
      ),
    );
  }
  return expected === live ? undefined : `${path}: ${text(live)} instead of ${text(expected)}`;
}

const text = (value: unknown) => JSON.stringify(value)?.slice(0, 120);

function firstOf(checks: readonly (() => string | undefined)[]): string | undefined {
  for (const check of checks) {
    const found = check();
    if (found !== undefined) return found;
  }
  return undefined;
}
