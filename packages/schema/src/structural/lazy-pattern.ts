import { RE2JS } from "re2js";

/** Matches texts with an RE2 pattern that is compiled when the first one comes. */
export function lazyPattern(pattern: string): (text: string) => ReturnType<RE2JS["matcher"]> {
  let compiled: RE2JS | undefined;
  return (text) => {
    compiled ??= RE2JS.compile(pattern);
    return compiled.matcher(text);
  };
}
