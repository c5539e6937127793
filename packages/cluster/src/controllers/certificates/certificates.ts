import { CertificateSigningRequest } from "@konverge/kinds";
import { controllersPart } from "../../parts/part.ts";
import { approver } from "./approver.ts";
import { cleaner, signer } from "./signer.ts";

/** Approves, signs and forgets CertificateSigningRequests. */
export const certificates = controllersPart("certificate-controller", [CertificateSigningRequest], ({ authority }) => [
  approver(),
  signer(authority),
  cleaner(),
]);
