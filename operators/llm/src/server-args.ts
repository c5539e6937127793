/** The short forms of vLLM's flags. */
export const VLLM_ALIASES: Readonly<Record<string, string>> = {
  "-tp": "--tensor-parallel-size",
  "-pp": "--pipeline-parallel-size",
  "-dp": "--data-parallel-size",
  "-ep": "--enable-expert-parallel",
};
/** A shorter part of a flag is no abbreviation of one. */
const SHORTEST = "--xx".length;

/**
 * The flag of this list that an argument sets, in whichever form a server accepts: with its value (`--port=1`), with underscores,
 * another name of it, or the beginning of its name.
 */
export function flagSetBy(
  arg: string,
  flags: readonly string[],
  aliases: Readonly<Record<string, string>> = VLLM_ALIASES,
): string | undefined {
  const [given = ""] = arg.split("=");
  if (!given.startsWith("-")) return undefined;
  const name = given.startsWith("--") ? given.replaceAll("_", "-") : given;
  const flag = aliases[name] ?? name;
  return flags.find((one) => one === flag || (flag.length >= SHORTEST && one.startsWith(flag)));
}

/** The first versions whose image starts `vllm serve`; the program of earlier ones ignores a model without its flag. */
const SERVES_SINCE = 16;

/**
 * The model as an argument: `vllm serve` takes it in the first place, and deprecates `--model`. Other programs take `--model`
 * alone, and serve another model if it is missing, so that images that are not known to start `vllm serve` get it.
 */
export function modelArgs(image: string, location: string): string[] {
  return startsServe(image) ? [location] : ["--model", location];
}

function startsServe(image: string): boolean {
  const [, tag = "latest", digest] = /(?:^|\/)vllm-openai(?::([^/@]+))?(@.+)?$/.exec(image) ?? ["", "", "none"];
  if (digest && tag === "latest") return false;
  const minor = /^v?0\.(\d+)/.exec(tag)?.[1];
  return tag !== "" && (minor === undefined || Number(minor) >= SERVES_SINCE);
}
