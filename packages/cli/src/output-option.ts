import { Option } from "commander";

/** How results are printed. */
export type Output = "text" | "json";

/** `--output json`: for programs. `what` says which output, where a command has several. */
export function outputOption(what = ""): Option {
  const description = `format of the output${what && ` ${what}`}`;
  return new Option("-o, --output <format>", description).choices(["text", "json"]).default("text");
}
