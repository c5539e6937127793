import { type Authority, certificateRequest } from "@konverge/apiserver";
import { type Clock, keyOf, realClock, timestamp } from "@konverge/core";
import { CertificateSigningRequest } from "@konverge/kinds";
import { builtInController } from "../../parts/built-in-controller.ts";
import { SIGNERS } from "./signer-rules.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** The longest and default validity of certificates. */
const LONGEST = 365 * 24 * HOUR;
const SHORTEST = 10 * MINUTE;
/** Clocks differ slightly: certificates are backdated. */
const BACKDATE = 5 * MINUTE;
/** One that lasts no longer than this is not cut by that. */
const SHORT = 8 * HOUR;

/** Signs what has been approved, for the signers that are Kubernetes' own. */
export function signer(authority: () => Authority) {
  // Certificates are verified by programs that run in real time, even if the cluster's clock is virtual.
  const machine = realClock();
  return builtInController(CertificateSigningRequest, {
    name: "csrsigning",
    async reconcile(csr, { client, clock }) {
      const { spec, status } = csr;
      const holds = (type: string) => status?.conditions?.some((one) => one.type === type && one.status === "True");
      const problemOf = SIGNERS[spec.signerName];
      if (!problemOf || status?.certificate || !holds("Approved") || holds("Denied") || holds("Failed"))
        return undefined;
      const request = certificateRequest(spec.request);
      const problem = problemOf(request, spec.usages ?? []);
      const next =
        problem === undefined
          ? { ...status, certificate: sign(authority(), request, csr, machine) }
          : { ...status, conditions: [...(status?.conditions ?? []), failed(problem, clock)] };
      // Direct writes: approval and certificate are parts of a status that several signers share; expired requests are
      // deleted.
      await client.updateStatus(CertificateSigningRequest, { ...csr, status: next });
      return undefined;
    },
  });
}

function sign(
  authority: Authority,
  request: ReturnType<typeof certificateRequest>,
  { spec }: CertificateSigningRequest,
  clock: Clock,
): string {
  const wanted = (spec.expirationSeconds ?? LONGEST / 1000) * 1000;
  const ttl = Math.min(LONGEST, Math.max(SHORTEST, wanted));
  const now = clock.now();
  const until = now + (ttl < SHORT ? ttl : ttl - BACKDATE);
  const pem = authority.sign(request, { usages: spec.usages ?? [], from: now - BACKDATE, until });
  return Buffer.from(pem).toString("base64");
}

function failed(message: string, clock: Clock) {
  const lastUpdateTime = timestamp(clock);
  return { type: "Failed", status: "True" as const, reason: "SignerValidationFailure", message, lastUpdateTime };
}

/** Forgets requests some time after they have been decided, or have not. */
export function cleaner() {
  return builtInController(CertificateSigningRequest, {
    name: "csrcleaner",
    async reconcile(csr, { client, clock }) {
      const { conditions = [], certificate } = csr.status ?? {};
      const deadlines = conditions.flatMap(({ type, lastUpdateTime }) => {
        if (!lastUpdateTime) return [];
        return Date.parse(lastUpdateTime) + (type === "Approved" && !certificate ? 24 : 1) * HOUR;
      });
      if (conditions.length === 0) deadlines.push(Date.parse(csr.metadata.creationTimestamp!) + 24 * HOUR);
      if (deadlines.length === 0) return undefined;
      const left = Math.min(...deadlines) - clock.now();
      if (left >= 0) return { requeueAfter: left + 1000 };
      await client.delete(CertificateSigningRequest, keyOf(csr), { preconditions: { uid: csr.metadata.uid! } });
      return undefined;
    },
  });
}
