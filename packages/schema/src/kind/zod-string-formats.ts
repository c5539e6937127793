import type { Schema } from "@konverge/core";
import type { z } from "zod";
import { DefinitionError } from "./definition-error.ts";
import { re2PatternOf } from "./re2-pattern.ts";

/**
 * Zod's string formats that API servers know, by their names there; what exactly they allow is the server's business.
 * The others become patterns.
 */
const FORMATS: Record<string, string | undefined> = {
  datetime: "date-time",
  date: "date",
  email: "email",
  url: "uri",
  uuid: "uuid",
  guid: "uuid",
  ipv4: "ipv4",
  ipv6: "ipv6",
  base64: "byte",
  hostname: "hostname",
  mac: "mac",
};

/** The options of Zod's formats that a format of the API server cannot express. */
interface FormatOptions {
  version?: string;
  protocol?: RegExp;
  hostname?: RegExp;
  local?: boolean;
  precision?: number | null;
  delimiter?: string;
}

export function applyStringFormat(check: z.core.$ZodCheckStringFormatDef, schema: Schema, path: string): void {
  const options = check as FormatOptions;
  if (check.format === "duration") {
    throw new DefinitionError(path, "durations in Kubernetes are written 1h30m, not in ISO 8601; use duration()");
  }
  if (check.format === "emoji")
    throw new DefinitionError(path, "emoji needs Unicode properties that RE2 does not have");
  const format = serverFormat(check.format, options);
  if (format === undefined) {
    if (!check.pattern) throw new DefinitionError(path, `${check.format} has no pattern that a CRD could hold`);
    addPattern(schema, re2PatternOf(check.pattern, path));
    return;
  }
  if (schema.format !== undefined) {
    throw new DefinitionError(path, `both ${schema.format} and ${format}: a field has one format`);
  }
  schema.format = format;
  if (check.format === "url") applyUrlOptions(options, schema, path);
}

/** The server's format for one of Zod's, unless its options say more than the format does. */
function serverFormat(format: string, options: FormatOptions): string | undefined {
  if (format === "uuid" && options.version !== undefined) {
    return ["v3", "v4", "v5"].includes(options.version) ? `uuid${options.version.slice(1)}` : undefined;
  }
  if (format === "datetime" && (options.local || (options.precision ?? null) !== null)) return undefined;
  if (format === "mac" && options.delimiter !== undefined) return undefined;
  return Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
}

function applyUrlOptions({ protocol, hostname }: FormatOptions, schema: Schema, path: string): void {
  if (protocol) {
    const whole = /^\^(.*)\$$/.exec(protocol.source)?.[1];
    if (whole === undefined) throw new DefinitionError(path, `the protocol ${protocol} must be a whole one: /^…$/`);
    addPattern(schema, re2PatternOf(new RegExp(`^(?:${whole}):`, protocol.flags), path));
  }
  // Zod's own http URLs ask for a domain name; the pattern cannot be moved to the middle of a URL.
  if (hostname && !protocol) throw new DefinitionError(path, "a CRD cannot constrain the host of a URL; use .regex()");
}

function addPattern(schema: Schema, pattern: string): void {
  if (schema.pattern === undefined) schema.pattern = pattern;
  else schema.allOf = [...(schema.allOf ?? []), { pattern }];
}
