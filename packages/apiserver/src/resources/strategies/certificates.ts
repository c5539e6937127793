import { CertificateError, certificateRequest, parseCertificate, pemBlocks } from "@konverge/certificates";
import {
  append,
  deepEqual,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  type FieldError,
  pathSegmentErrors,
  quoted,
} from "@konverge/core";
import { duplicate, forbidden, invalidValue, notSupported, required, tooLong } from "@konverge/schema";
import type { CertificateSigningRequest, Stored } from "../../codec/objects.ts";
import type { Strategy, StrategyContext } from "../definition.ts";

type Request = Stored<CertificateSigningRequest>;
type Condition = NonNullable<NonNullable<CertificateSigningRequest["status"]>["conditions"]>[number];

const LEGACY_SIGNER = "kubernetes.io/legacy-unknown";
const USAGES = [
  "any",
  "cert sign",
  "client auth",
  "code signing",
  "content commitment",
  "crl sign",
  "data encipherment",
  "decipher only",
  "digital signature",
  "email protection",
  "encipher only",
  "ipsec end system",
  "ipsec tunnel",
  "ipsec user",
  "key agreement",
  "key encipherment",
  "microsoft sgc",
  "netscape sgc",
  "ocsp signing",
  "s/mime",
  "server auth",
  "signing",
  "timestamping",
];

/** Requests for certificates: what is asked is said once, who approves and who signs have a subresource each. */
export const certificateSigningRequest: Strategy = {
  nameErrors: (name) => pathSegmentErrors(name),
  resetFields: (subresource) => (subresource === "" ? ["spec", "status"] : RESET[subresource]!),
  prepareForCreate({ spec }: Request, { call }) {
    const { name, uid, groups, extra } = call.user;
    spec.username = name;
    spec.groups = [...groups];
    if (uid) spec.uid = uid;
    else delete spec.uid;
    if (extra) spec.extra = Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]));
    else delete spec.extra;
  },
  prepareForUpdate(object: Request, old: Request, context) {
    object.spec = old.spec;
    if (context.subresource !== "status") return;
    for (const type of ["Approved", "Denied"]) keepConditions(object, old, type);
    fillTimes(object, old, context);
  },
  validate: (object: Request) => requestErrors(object, undefined),
  validateChange: (object: Request, old: Request) => changeErrors(object, old, "object"),
  validateStatusUpdate: (object: Request, old: Request) => changeErrors(object, old, "status"),
  fields: ({ spec }: Request) => ({ "spec.signerName": spec.signerName }),
};

const RESET: Record<string, readonly string[]> = {
  status: ["spec", "status.conditions"],
  approval: ["spec", "status.certificate"],
};

/** The strategy of the subresource `approval`, which changes the conditions of the status and nothing else. */
export const certificateApproval: Strategy = {
  ...certificateSigningRequest,
  statusFields: [],
  prepareForUpdate(object: Request, old: Request, context: StrategyContext) {
    fillTimes(object, old, context);
    const conditions = object.status?.conditions;
    object.spec = old.spec;
    object.status = { ...old.status, ...(conditions && { conditions }) };
    if (!conditions) delete object.status.conditions;
  },
  validateChange: (object: Request, old: Request) => changeErrors(object, old, "approval"),
};

/** Who signs cannot change what was approved. */
function keepConditions(object: Request, old: Request, type: string): void {
  const of = ({ status }: Request) => (status?.conditions ?? []).filter((condition) => condition.type === type);
  const before = of(old);
  if (before.length !== of(object).length || !object.status?.conditions) return;
  object.status.conditions = object.status.conditions.map((one) => (one.type === type ? before.shift()! : one));
}

function fillTimes(object: Request, old: Request, { now }: StrategyContext): void {
  for (const condition of object.status?.conditions ?? []) {
    const { type, status } = condition;
    const same = old.status?.conditions?.find((one) => one.type === type && one.status === status);
    condition.lastUpdateTime ??= now;
    condition.lastTransitionTime ??= same?.lastTransitionTime ?? now;
  }
}

function requestErrors({ spec, status }: Request, old: Request | undefined): FieldError[] {
  const { request, signerName = "", usages, expirationSeconds } = spec;
  const errors: FieldError[] = [];
  const problem = requestProblem(request);
  if (problem) errors.push(invalidValue("spec.request", request || null, problem));
  if (!usages?.length) errors.push(required("spec.usages"));
  const oldUsages = old?.spec.usages ?? [];
  if (oldUsages.every((usage) => USAGES.includes(usage))) {
    usages?.forEach((usage, index) => {
      if (!USAGES.includes(usage)) errors.push(notSupported(`spec.usages[${index}]`, usage, USAGES));
    });
  }
  if (new Set(oldUsages).size === oldUsages.length) append(errors, repeated(usages ?? [], "spec.usages", ""));
  if (signerName === LEGACY_SIGNER && old?.spec.signerName !== LEGACY_SIGNER) {
    const detail = "the legacy signerName is not allowed via this API version";
    errors.push(invalidValue("spec.signerName", signerName, detail));
  } else append(errors, signerNameErrors(signerName, "spec.signerName"));
  if (expirationSeconds !== undefined && expirationSeconds < 600) {
    const detail = "may not specify a duration less than 600 seconds (10 minutes)";
    errors.push(invalidValue("spec.expirationSeconds", expirationSeconds, detail));
  }
  append(errors, conditionErrors(status?.conditions ?? [], old?.status?.conditions ?? []));
  const { certificate = "" } = status ?? {};
  const why = certificate === (old?.status?.certificate ?? "") ? undefined : certificateProblem(certificate);
  if (why) errors.push(invalidValue("status.certificate", "<certificate data>", why));
  return errors;
}

function repeated(values: readonly string[], field: string, child: string): FieldError[] {
  return values.flatMap((value, index) =>
    values.indexOf(value) < index ? [duplicate(`${field}[${index}]${child}`, value)] : [],
  );
}

function conditionErrors(conditions: readonly Condition[], old: readonly Condition[]): FieldError[] {
  const at = "status.conditions";
  const errors: FieldError[] = [];
  const has = (list: readonly Condition[], type: string) => list.some((one) => one.type === type);
  const hadBoth = has(old, "Approved") && has(old, "Denied");
  const hadRepeated = repeated(typesOf(old), at, "").length > 0;
  conditions.forEach(({ type, status }, index) => {
    if (type === "" && !has(old, "")) errors.push(required(`${at}[${index}].type`));
    const allowed = ["Approved", "Denied", "Failed"].includes(type) ? ["True"] : ["False", "True", "Unknown"];
    if (!status) errors.push(required(`${at}[${index}].status`));
    else if (!allowed.includes(status)) errors.push(notSupported(`${at}[${index}].status`, status, allowed));
    const earlier = conditions.slice(0, index);
    const other = type === "Approved" ? "Denied" : type === "Denied" ? "Approved" : undefined;
    if (other !== undefined && !hadBoth && has(earlier, other)) {
      errors.push(invalidValue(at, type, "Approved and Denied conditions are mutually exclusive"));
    }
    if (!hadRepeated && has(earlier, type)) errors.push(duplicate(`${at}[${index}].type`, type));
  });
  return errors;
}

function typesOf(conditions: readonly Condition[]): string[] {
  return conditions.map(({ type }) => type);
}

function changeErrors(object: Request, old: Request, through: "object" | "status" | "approval"): FieldError[] {
  const errors = requestErrors(object, old);
  const of = ({ status }: Request, type: string) => (status?.conditions ?? []).filter((one) => one.type === type);
  const refuse = (what: string, type: string) =>
    errors.push(forbidden("status.conditions", `updates may not ${what} a condition of type ${quoted(type)}`));
  for (const type of ["Approved", "Denied", "Failed"]) {
    if (of(object, type).length < of(old, type).length) refuse("remove", type);
  }
  for (const type of through === "approval" ? [] : ["Approved", "Denied"]) {
    const [now, before] = [of(object, type), of(old, type)];
    if (now.length > before.length) refuse("add", type);
    else if (now.length === before.length && !deepEqual(now, before)) refuse("modify", type);
  }
  if ((object.status?.certificate ?? "") !== (old.status?.certificate ?? "")) {
    if (through !== "status") errors.push(forbidden("status.certificate", "updates may not set certificate content"));
    else if (old.status?.certificate) {
      errors.push(forbidden("status.certificate", "updates may not modify existing certificate content"));
    }
  }
  return errors;
}

function requestProblem(request: string | null | undefined): string | undefined {
  try {
    return certificateRequest(request).signatureProblem();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function certificateProblem(base64: string): string | undefined {
  if (base64 === "") return undefined;
  const blocks = pemBlocks(Buffer.from(base64, "base64").toString());
  for (const { type, hasHeaders, bytes } of blocks) {
    if (type !== "CERTIFICATE") return `only CERTIFICATE PEM blocks are allowed, found ${quoted(type)}`;
    if (hasHeaders) return "no PEM block headers are permitted";
    if (bytes.length === 0) return "found CERTIFICATE PEM block containing 0 certificates";
    try {
      parseCertificate(bytes);
    } catch (error) {
      if (error instanceof CertificateError) return error.message;
      throw error;
    }
  }
  return blocks.length === 0 ? "must contain at least one CERTIFICATE PEM block" : undefined;
}

/** What is wrong with the name of a signer: a domain, and a name in it. */
export function signerNameErrors(name: string, field: string): FieldError[] {
  if (name === "") return [required(field)];
  const [domain = "", path = "", ...more] = name.split("/");
  if (!name.includes("/") || more.length > 0) {
    const detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    return [invalidValue(field, name, detail)];
  }
  const errors: FieldError[] = domain.length > 253 ? [tooLong(field, 253)] : [];
  const judge = (segment: string, rule: (label: string) => string[]) => {
    const wrong = segment.split(".").find((label) => rule(label).length > 0);
    if (wrong === undefined) return;
    for (const why of rule(wrong))
      errors.push(invalidValue(field, segment, `validating label ${quoted(wrong)}: ${why}`));
  };
  judge(domain, dns1123LabelErrors);
  if (!domain.includes(".")) {
    errors.push(invalidValue(field, domain, "should be a domain with at least two segments separated by dots"));
  }
  judge(path, dns1123SubdomainErrors);
  if (name.length > 571) errors.push(tooLong(field, 571));
  return errors;
}
