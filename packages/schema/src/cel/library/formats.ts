/** `format.dns1123Label().validate(name)`: the named formats of Kubernetes. */
import {
  dns1035LabelErrors,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  labelValueErrors,
  maskTrailingDash,
  parseRequestUri,
  qualifiedNameErrors,
} from "@konverge/core";
import { stringFormat } from "../../structural/formats.ts";
import type { Library, OverloadSpec } from "../types/declarations.ts";
import { ListValue } from "../values/collections.ts";
import { noSuchOverload, Opaque, Optional, type Value } from "../values/values.ts";

/** A format; its cost depends on the length of the pattern behind it, whether it is one or not. */
export class NamedFormat extends Opaque {
  readonly typeName = "kubernetes.NamedFormat";
  readonly name: string;
  readonly patternLength: number;
  readonly errors: (text: string) => string[];

  constructor(name: string, patternLength: number, errors: (text: string) => string[]) {
    super();
    this.name = name;
    this.patternLength = patternLength;
    this.errors = errors;
  }

  equal(other: Value): Value {
    return other instanceof NamedFormat ? this.name === other.name : noSuchOverload(other);
  }
}

const prefix = (errors: (text: string) => string[]) => (text: string) => errors(maskTrailingDash(text));

const stringFormatErrors = (format: string, problem: string) => (text: string) =>
  stringFormat(format)!(text) ? [] : [problem];

function uriErrors(text: string): string[] {
  try {
    parseRequestUri(text);
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

const FORMATS: Record<string, NamedFormat> = {
  dns1123Label: new NamedFormat("DNS1123Label", 30, (text) => dns1123LabelErrors(text)),
  dns1123Subdomain: new NamedFormat("DNS1123Subdomain", 60, (text) => dns1123SubdomainErrors(text)),
  dns1035Label: new NamedFormat("DNS1035Label", 30, dns1035LabelErrors),
  qualifiedName: new NamedFormat("QualifiedName", 60, qualifiedNameErrors),
  dns1123LabelPrefix: new NamedFormat("DNS1123LabelPrefix", 30, prefix(dns1123LabelErrors)),
  dns1123SubdomainPrefix: new NamedFormat("DNS1123SubdomainPrefix", 60, prefix(dns1123SubdomainErrors)),
  dns1035LabelPrefix: new NamedFormat("DNS1035LabelPrefix", 30, prefix(dns1035LabelErrors)),
  labelValue: new NamedFormat("LabelValue", 40, labelValueErrors),
  uri: new NamedFormat("URI", 1103, uriErrors),
  uuid: new NamedFormat("uuid", 70, stringFormatErrors("uuid", "does not match the UUID format")),
  byte: new NamedFormat("byte", 84, stringFormatErrors("byte", "invalid base64")),
  date: new NamedFormat("date", 71, stringFormatErrors("date", "invalid date")),
  datetime: new NamedFormat("datetime", 71, stringFormatErrors("datetime", "invalid datetime")),
};

function validate(format: NamedFormat, text: string): Value {
  const errors = format.errors(text);
  return errors.length === 0 ? Optional.none : new Optional(new ListValue(errors));
}

function named(name: string): Value {
  return Object.hasOwn(FORMATS, name) ? new Optional(FORMATS[name]!) : Optional.none;
}

/** Kubernetes' named formats. */
export const formats: Library = {
  overloads: [
    ["format-validate", "kubernetes.NamedFormat.validate(string): optional(list(string))", validate],
    ["format-named", "format.named(string): optional(kubernetes.NamedFormat)", named],
    ...Object.entries(FORMATS).map(
      ([name, format]): OverloadSpec => [`format.${name}`, `format.${name}(): kubernetes.NamedFormat`, () => format],
    ),
  ],
};
