import { dns1123SubdomainErrors, quoted } from "@konverge/core";

const PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const isPath = new RegExp(`^${PATH}$`);

/** What is wrong with extra values that a user impersonates by a constrained mode; undefined: nothing. */
export function extraProblem(extra: Readonly<Record<string, readonly string[]>>): string | undefined {
  for (const [key, values] of Object.entries(extra)) {
    if (key === "") return "impersonating the empty string key in extra is not allowed";
    const wrong = keyErrors(key);
    if (wrong.length > 0) {
      const text = wrong.length === 1 ? wrong[0] : `[${wrong.join(", ")}]`;
      return `impersonating an invalid key in extra is not allowed: ${text}`;
    }
    if (key !== key.toLowerCase()) {
      return `impersonating a non-lowercase key in extra is not allowed: ${quoted(key)}`;
    }
    if (values.length === 0) return "impersonating empty values in extra is not allowed";
    if (values.includes("")) return "impersonating the empty string value in extra is not allowed";
  }
  return undefined;
}

/** Keys are domain-prefixed paths: `acme.io/foo`. */
function keyErrors(key: string): string[] {
  const invalid = (value: string, why: string) => `extra.key: Invalid value: ${quoted(value)}: ${why}`;
  const slash = key.indexOf("/");
  const [host, path] = [key.slice(0, Math.max(0, slash)), key.slice(slash + 1)];
  if (host === "" || path === "") return [invalid(key, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  const errors = dns1123SubdomainErrors(host).map((why) => invalid(host, why));
  if (!isPath.test(path)) errors.push(invalid(path, `Invalid path (regex used for validation is '${PATH}')`));
  return errors;
}
