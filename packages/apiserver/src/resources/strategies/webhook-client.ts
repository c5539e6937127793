import { dns1123SubdomainErrors, type FieldError, portNumberErrors } from "@konverge/core";
import { invalidValue, required } from "@konverge/schema";

interface ClientConfig {
  readonly url?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    readonly path?: string;
    readonly port?: number;
  };
}

/** What is wrong with where a webhook is. */
export function clientErrors({ url, service }: ClientConfig, path: string): FieldError[] {
  if ((url === undefined) === (service === undefined)) {
    return [required(path, "exactly one of url or service is required")];
  }
  if (url !== undefined) return urlErrors(url, `${path}.url`);
  // The real server confuses the two names here, which shows when one is missing.
  const errors = [
    ...(service!.namespace ? [] : [required(`${path}.service.name`)]),
    ...(service!.name ? [] : [required(`${path}.service.namespace`)]),
  ];
  const port = service!.port ?? 443;
  const problems = portNumberErrors(port);
  if (problems.length > 0) {
    errors.push(invalidValue(`${path}.service.port`, port, `port is not valid: ${problems.join(", ")}`));
  }
  return [...errors, ...pathErrors(service!.path ?? "", `${path}.service.path`)];
}

function urlErrors(text: string, path: string): FieldError[] {
  const form = "; desired format: https://host[/path]";
  const [, scheme = "", host = "", query, fragment] =
    /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/.exec(text) ?? [];
  const at = host.lastIndexOf("@");
  const errors: FieldError[] = [];
  if (scheme.toLowerCase() !== "https") {
    errors.push(invalidValue(path, scheme.toLowerCase(), `'https' is the only allowed URL scheme${form}`));
  }
  if (host.slice(at + 1) === "") errors.push(invalidValue(path, host.slice(at + 1), `host must be specified${form}`));
  if (at >= 0) errors.push(invalidValue(path, host.slice(0, at), "user information is not permitted in the URL"));
  if (fragment) errors.push(invalidValue(path, fragment, "fragments are not permitted in the URL"));
  if (query) errors.push(invalidValue(path, query, "query parameters are not permitted in the URL"));
  return errors;
}

function pathErrors(value: string, path: string): FieldError[] {
  if (value === "" || value === "/") return [];
  if (value === "//") return [invalidValue(path, value, "segment[0] may not be empty")];
  const errors = value.startsWith("/") ? [] : [invalidValue(path, value, "must start with a '/'")];
  for (const [index, segment] of value.slice(1).replace(/\/$/, "").split("/").entries()) {
    if (segment === "") errors.push(invalidValue(path, value, `segment[${index}] may not be empty`));
    else {
      for (const problem of dns1123SubdomainErrors(segment)) {
        errors.push(invalidValue(path, value, `segment[${index}]: ${problem}`));
      }
    }
  }
  return errors;
}
