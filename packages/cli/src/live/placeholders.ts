import { Buffer } from "node:buffer";
import { type Credential, createAuthority } from "@konverge/apiserver";
import { type AnyObject, isObject, type JsonObject, realClock } from "@konverge/core";

/** Shorter values are not looked for in other objects: they would be found everywhere. */
const SHORTEST = 8;
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
const PEM = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----\n?/g;
/** Of other objects, these are not text that somebody wrote: nothing in them is replaced. */
const IDENTITY = new Set([
  "apiVersion",
  "kind",
  "managedFields",
  "ownerReferences",
  "labels",
  "name",
  "namespace",
  "uid",
]);

/**
 * Replaces what Secrets hold by placeholders: the same keys, lengths and shapes (letters, digits, lines, URLs; certificates
 * and keys that can be read), and the same placeholder for the same value. Wherever another object repeats a value, it is replaced
 * there, too.
 */
export class Placeholders {
  readonly #byValue = new Map<string, string>();
  /** Values to be looked for elsewhere, by their first characters. */
  readonly #byStart = new Map<string, string[]>();
  #certificate: Credential | undefined;

  /** A Secret without its values. */
  secret(secret: AnyObject): AnyObject {
    const { data, stringData, metadata, ...rest } = secret as AnyObject & {
      data?: JsonObject;
      stringData?: JsonObject;
    };
    const { [LAST_APPLIED]: _, ...annotations } = metadata.annotations ?? {};
    return {
      ...rest,
      metadata: { ...metadata, ...(metadata.annotations && { annotations }) },
      ...(data && { data: mapped(data, (value) => this.#encoded(String(value))) }),
      ...(stringData && { stringData: mapped(stringData, (value) => this.of(String(value))) }),
    } as AnyObject;
  }

  /** Another object, in which nothing repeats what was found in Secrets. */
  object(object: AnyObject): AnyObject {
    return this.#byStart.size === 0 ? object : (this.#cleaned(object) as AnyObject);
  }

  /** The placeholder of a text. */
  of(text: string): string {
    if (text === "") return text;
    let placeholder = this.#byValue.get(text);
    if (placeholder === undefined) {
      placeholder = this.#made(text);
      this.#byValue.set(text, placeholder);
      this.#find(text);
    }
    return placeholder;
  }

  #encoded(base64: string): string {
    const bytes = Buffer.from(base64, "base64");
    const text = bytes.toString();
    const isText = Buffer.from(text).equals(bytes);
    const placeholder = isText ? Buffer.from(this.of(text)) : Buffer.alloc(bytes.length, "x");
    const encoded = placeholder.toString("base64");
    this.#byValue.set(base64, encoded);
    this.#find(base64);
    return encoded;
  }

  #made(text: string): string {
    if (/-----BEGIN /.test(text)) return masked(text.replace(PEM, (_, label: string) => this.#pem(label)));
    return masked(text);
  }

  #pem(label: string): string {
    this.#certificate ??= createAuthority(realClock()).server("placeholder", ["placeholder.invalid"]);
    return label.includes("CERTIFICATE") ? this.#certificate.cert : this.#certificate.key;
  }

  #find(value: string): void {
    if (value.length < SHORTEST) return;
    const start = value.slice(0, SHORTEST);
    const known = this.#byStart.get(start);
    if (known) known.push(value);
    else this.#byStart.set(start, [value]);
  }

  #cleaned(value: unknown): unknown {
    if (typeof value === "string") return value.length < SHORTEST ? value : this.#cleanedText(value);
    if (Array.isArray(value)) return value.map((item) => this.#cleaned(item));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, IDENTITY.has(name) ? inner : this.#cleaned(inner)]),
    );
  }

  #cleanedText(text: string): string {
    let result = "";
    let kept = 0;
    for (let i = 0; i + SHORTEST <= text.length; i++) {
      const found = this.#byStart.get(text.slice(i, i + SHORTEST))?.filter((value) => text.startsWith(value, i));
      if (!found?.length) continue;
      const longest = found.reduce((a, b) => (b.length > a.length ? b : a));
      result += text.slice(kept, i) + this.#byValue.get(longest)!;
      i += longest.length - 1;
      kept = i + 1;
    }
    return kept === 0 ? text : result + text.slice(kept);
  }
}

const URL_SCHEME = /^[a-z][a-z0-9+.-]*:\/\/(?=.)/;

/** The same text with other letters and digits. A placeholder of PEM blocks stays as it is. */
function masked(text: string): string {
  const blocks = text.split(/(-----BEGIN [A-Z0-9 ]+-----[\s\S]*?-----END [A-Z0-9 ]+-----\n?)/);
  return blocks.map((part, i) => (i % 2 === 1 ? part : maskedText(part))).join("");
}

function maskedText(text: string): string {
  const [scheme = ""] = URL_SCHEME.exec(text) ?? [];
  const kept = scheme === "" ? /[\n]/ : /[\n:/@.?&=,]/;
  const rest = [...text.slice(scheme.length)].map((one) => {
    if (/[0-9]/.test(one)) return "0";
    if (/[A-Z]/.test(one)) return "X";
    return kept.test(one) ? one : "x";
  });
  return scheme + rest.join("");
}

function mapped(values: JsonObject, change: (value: unknown) => unknown): JsonObject {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)])) as JsonObject;
}
