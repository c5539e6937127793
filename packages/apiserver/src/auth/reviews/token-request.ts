import {
  type AnyObject,
  badRequest,
  type Clock,
  conflict,
  invalid,
  notFound,
  parseApiVersion,
  parseJson,
  quoted,
  timestamp,
} from "@konverge/core";
import type { Store } from "../../storage/store.ts";
import type { ServiceAccountTokens, TokenSubject } from "../tokens/service-account-tokens.ts";

/** A request to `serviceaccounts/NAME/token`. */
export interface TokenRequestCall {
  readonly namespace: string;
  readonly name: string;
  /** The TokenRequest, with defaults. */
  readonly object: AnyObject;
}

interface TokenRequestSpec {
  audiences?: string[];
  expirationSeconds?: number;
  boundObjectRef?: { kind?: string; apiVersion?: string; name?: string; uid?: string };
}

const TOKEN_REQUEST = { group: "authentication.k8s.io", kind: "TokenRequest" };
const DEFAULT_SECONDS = 3600;

/**
 * What the kubelet asks for on behalf of pods. Programs that do not yet renew such tokens are given a year, and the audit
 * log says so once the hour is over.
 */
const POD_SECONDS = 3607;
const EXTENDED_SECONDS = 365 * 24 * 3600;

/** Answers a TokenRequest: a new token for a service account, perhaps bound to a Pod, Secret or Node. */
export function requestToken(
  store: Store,
  clock: Clock,
  tokens: ServiceAccountTokens,
  { namespace, name, object }: TokenRequestCall,
): AnyObject {
  const spec = (object["spec"] ?? {}) as TokenRequestSpec;
  const { metadata } = object;
  const mismatch = (field: "name" | "namespace", value: string) =>
    invalid(TOKEN_REQUEST, name, [
      {
        reason: "FieldValueInvalid",
        field: `metadata.${field}`,
        message: `Invalid value: ${quoted(value)}: must match the service account ${field} if specified`,
      },
    ]);
  if (metadata?.name && metadata.name !== name) throw mismatch("name", metadata.name);
  if (metadata?.namespace && metadata.namespace !== namespace) throw mismatch("namespace", metadata.namespace);
  const account = read(store, { group: "", plural: "serviceaccounts" }, namespace, name);
  if (metadata?.uid && metadata.uid !== account.metadata.uid) {
    const why = `the UID in the token request (${metadata.uid}) does not match the UID of the service account (${account.metadata.uid})`;
    throw conflict({ group: TOKEN_REQUEST.group, plural: TOKEN_REQUEST.kind }, name, why);
  }
  const audiences = spec.audiences?.length ? spec.audiences : tokens.audiences;
  const seconds = spec.expirationSeconds ?? DEFAULT_SECONDS;
  checkLifetime(seconds);
  const subject: TokenSubject = {
    namespace,
    serviceAccount: { name, uid: account.metadata.uid ?? "" },
    ...boundObjects(store, namespace, name, spec.boundObjectRef),
  };
  const forHere = audiences.every((audience) => tokens.audiences.includes(audience));
  const extended = subject.pod !== undefined && seconds === POD_SECONDS && forHere;
  const lifetime = extended ? { seconds: EXTENDED_SECONDS, warnAfterSeconds: seconds } : { seconds };
  const { token } = tokens.issue(subject, lifetime, audiences);
  return {
    ...object,
    metadata: {
      ...metadata,
      name,
      namespace,
      uid: account.metadata.uid,
      creationTimestamp: timestamp(clock),
    },
    // The field is there even when it says nothing.
    spec: { ...spec, audiences, expirationSeconds: seconds, boundObjectRef: spec.boundObjectRef ?? null },
    status: { token, expirationTimestamp: timestampAfter(clock, seconds) },
  };
}

function checkLifetime(seconds: number): void {
  const why =
    seconds < 600
      ? "may not specify a duration less than 10 minutes"
      : seconds > 2 ** 32
        ? "may not specify a duration larger than 2^32 seconds"
        : undefined;
  if (!why) return;
  const message = `Invalid value: ${seconds}: ${why}`;
  throw invalid(TOKEN_REQUEST, "", [{ reason: "FieldValueInvalid", field: "spec.expirationSeconds", message }]);
}

function boundObjects(
  store: Store,
  namespace: string,
  account: string,
  ref: TokenRequestSpec["boundObjectRef"],
): Pick<TokenSubject, "pod" | "secret" | "node"> {
  if (!ref) return {};
  const { group, version } = parseApiVersion(ref.apiVersion ?? "");
  const { kind = "", name = "" } = ref;
  if (group !== "" || !["Pod", "Secret", "Node"].includes(kind)) {
    throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
  }
  if (name === "") throw badRequest("Name parameter required.");
  const home = kind === "Node" ? "" : namespace;
  const object = read(store, { group: "", plural: `${kind.toLowerCase()}s` }, home, name);
  const { serviceAccountName, nodeName } = (object["spec"] ?? {}) as { serviceAccountName?: string; nodeName?: string };
  if (kind === "Pod" && serviceAccountName !== account) {
    const who = quoted(account);
    throw badRequest(`cannot bind token for serviceaccount ${who} to pod running with different serviceaccount name.`);
  }
  const uid = object.metadata.uid ?? "";
  if (ref.uid && ref.uid !== uid) {
    const why = `the UID in the bound object reference (${ref.uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ group, plural: kind }, name, why);
  }
  const bound = { name, uid };
  if (kind === "Secret") return { secret: bound };
  if (kind === "Node") return { node: bound };
  if (!nodeName) return { pod: bound };
  // A node that is not there (any more) is still named.
  const node = store.collection("/nodes").get(nodeName);
  return { pod: bound, node: { name: nodeName, ...(node && { uid: node.uid }) } };
}

function read(store: Store, resource: { group: string; plural: string }, namespace: string, name: string): AnyObject {
  const key = namespace === "" ? name : `${namespace}/${name}`;
  const entry = store.collection(`${resource.group}/${resource.plural}`).get(key);
  if (!entry) throw notFound(resource, name);
  return parseJson(entry.text) as AnyObject;
}

function timestampAfter(clock: Clock, seconds: number): string {
  return `${new Date(clock.now() + seconds * 1000).toISOString().slice(0, 19)}Z`;
}
