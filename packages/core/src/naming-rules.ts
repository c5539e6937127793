import { append } from "./append.ts";

/**
 * The rules for names, label keys and label values. Each function returns what is wrong, in the words of apimachinery's
 * validation package; an empty list means that the value will do.
 */

/** A pattern that a value must match as a whole, and how to say so when it does not. */
interface Rule {
  text: string;
  pattern: string;
  whole: RegExp;
  examples: string[];
}

const rule = (parts: Omit<Rule, "whole">): Rule => ({ ...parts, whole: new RegExp(`^${parts.pattern}$`) });

const DNS_1123_LABEL = rule({
  text: "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  pattern: "[a-z0-9]([-a-z0-9]*[a-z0-9])?",
  examples: ["my-name", "123-abc"],
});
const DNS_1123_SUBDOMAIN = rule({
  text: "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  pattern: `${DNS_1123_LABEL.pattern}(\\.${DNS_1123_LABEL.pattern})*`,
  examples: ["example.com"],
});
const DNS_1123_WILDCARD = rule({
  text: "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  pattern: `\\*\\.${DNS_1123_SUBDOMAIN.pattern}`,
  examples: ["*.example.com"],
});
const DNS_1035_LABEL = rule({
  text: "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  pattern: "[a-z]([-a-z0-9]*[a-z0-9])?",
  examples: ["my-name", "abc-123"],
});
const LABEL_KEY = rule({
  text: "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  pattern: "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]",
  examples: ["MyName", "my.name", "123-abc"],
});
const LABEL_VALUE = rule({
  text: "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  pattern: `(${LABEL_KEY.pattern})?`,
  examples: ["MyValue", "my_value", "12345"],
});
const CONFIG_KEY = rule({
  text: "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  pattern: "[-._a-zA-Z0-9]+",
  examples: ["key.name", "KEY_NAME", "key-name"],
});
const C_IDENTIFIER = rule({
  text: "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
  pattern: "[A-Za-z_][A-Za-z0-9_]*",
  examples: ["my_name", "MY_NAME", "MyName"],
});
const PERCENT = rule({
  text: "a valid percent string must be a numeric string followed by an ending '%'",
  pattern: "[0-9]+%",
  examples: ["1%", "93%"],
});
const HTTP_HEADER = rule({
  text: "a valid HTTP header must consist of alphanumeric characters or '-'",
  pattern: "[-A-Za-z0-9]+",
  examples: ["X-Header-Name"],
});

/** Hand-written validation speaks of characters, the rules that Kubernetes declares on types speak of bytes. */
export type LengthUnit = "characters" | "bytes";

/** A DNS label: names of namespaces, containers and everything else that becomes one part of a host name. */
export function dns1123LabelErrors(value: string, unit: LengthUnit = "characters"): string[] {
  if (obeys(value, DNS_1123_LABEL)) return tooLong(value, 63, unit);
  const onlyDotsAreWrong = obeys(value, DNS_1123_SUBDOMAIN);
  return [...tooLong(value, 63, unit), onlyDotsAreWrong ? "must not contain dots" : broken(DNS_1123_LABEL)];
}

/** A DNS subdomain: the names of most objects. */
export function dns1123SubdomainErrors(value: string, unit: LengthUnit = "characters"): string[] {
  return [...tooLong(value, 253, unit), ...unlessObeyed(value, DNS_1123_SUBDOMAIN)];
}

/** `*.example.com`: a host of an Ingress. */
export function wildcardDns1123SubdomainErrors(value: string): string[] {
  return [...tooLong(value, 253), ...unlessObeyed(value, DNS_1123_WILDCARD)];
}

/** A DNS label that starts with a letter: the names of Services. */
export function dns1035LabelErrors(value: string): string[] {
  return [...tooLong(value, 63), ...unlessObeyed(value, DNS_1035_LABEL)];
}

/** `name` or `example.com/name`: keys of labels and annotations, finalizers, resource names. */
export function qualifiedNameErrors(value: string): string[] {
  if (value.length <= 63 && obeys(value, LABEL_KEY)) return [];
  const parts = value.split("/");
  if (parts.length > 2) {
    return [
      `a valid label key ${broken(LABEL_KEY)} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const [name, prefix] = parts.reverse() as [string, string?];
  const errors: string[] = [];
  if (prefix === "") errors.push("prefix part must be non-empty");
  else if (prefix !== undefined)
    append(
      errors,
      dns1123SubdomainErrors(prefix, "bytes").map((error) => `prefix part ${error}`),
    );
  if (name === "") errors.push("name part must be non-empty");
  errors.push(
    ...[...tooLong(name, 63, "bytes"), ...unlessObeyed(name, LABEL_KEY)].map((error) => `name part ${error}`),
  );
  return errors;
}

/** The value of a label. */
export function labelValueErrors(value: string): string[] {
  return [...tooLong(value, 63, "bytes"), ...unlessObeyed(value, LABEL_VALUE)];
}

/** A key of a ConfigMap or Secret, which becomes the name of a file. */
export function configMapKeyErrors(value: string): string[] {
  return [...tooLong(value, 253), ...unlessObeyed(value, CONFIG_KEY), ...climbing(value)];
}

/** The name of an environment variable: any printable ASCII but '='. */
export function environmentNameErrors(value: string): string[] {
  const errors = value === "" ? ["environment variable name must be non-empty"] : [];
  if (/^[ -<>-~]*$/.test(value)) return errors;
  return [
    ...errors,
    "a valid environment variable name must consist only of printable ASCII characters other than '='",
  ];
}

/** An identifier of the C language. */
export function cIdentifierErrors(value: string): string[] {
  return unlessObeyed(value, C_IDENTIFIER);
}

/** A percentage: `25%`. */
export function percentErrors(value: string): string[] {
  return unlessObeyed(value, PERCENT);
}

/** The name of an HTTP header. */
export function httpHeaderNameErrors(value: string): string[] {
  return unlessObeyed(value, HTTP_HEADER);
}

/** The name of a port: at most 15 lower-case letters, digits and single hyphens. */
export function portNameErrors(value: string): string[] {
  const errors = tooLong(value, 15);
  if (!/^[-a-z0-9]+$/.test(value))
    errors.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  if (!/[a-z]/.test(value)) errors.push("must contain at least one letter (a-z)");
  if (value.includes("--")) errors.push("must not contain consecutive hyphens");
  if (value.startsWith("-") || value.endsWith("-")) errors.push("must not begin or end with a hyphen");
  return errors;
}

/** The number of a port: zero is none. */
export function portNumberErrors(port: number): string[] {
  return port >= 1 && port <= 65535 ? [] : ["must be between 1 and 65535, inclusive"];
}

/** A name that must survive as one segment of a path: those of RBAC objects, for instance. */
export function pathSegmentErrors(value: string): string[] {
  if (value === "." || value === "..") return [`may not be '${value}'`];
  return ["/", "%"].filter((illegal) => value.includes(illegal)).map((illegal) => `may not contain '${illegal}'`);
}

/** A generateName is judged with its trailing dash hidden, since letters will follow. */
export function maskTrailingDash(name: string): string {
  return name.length > 1 && name.endsWith("-") ? `${name.slice(0, -2)}a` : name;
}

function obeys(value: string, { whole }: Rule): boolean {
  return whole.test(value);
}

function unlessObeyed(value: string, rule: Rule): string[] {
  return obeys(value, rule) ? [] : [broken(rule)];
}

function broken({ text, pattern, examples }: Rule): string {
  const given = examples.map((example) => `'${example}', `).join(" or ");
  return `${text} (e.g. ${given}regex used for validation is '${pattern}')`;
}

const encoder = new TextEncoder();

/** Go counts bytes, whatever the message says. */
function tooLong(value: string, limit: number, unit: LengthUnit = "characters"): string[] {
  const isShort = value.length * 3 <= limit || (value.length <= limit && encoder.encode(value).length <= limit);
  return isShort ? [] : [`must be no more than ${limit} ${unit}`];
}

function climbing(value: string): string[] {
  if (value === "." || value === "..") return [`must not be '${value}'`];
  return value.startsWith("..") ? ["must not start with '..'"] : [];
}
