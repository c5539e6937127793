import { CertificateSigningRequest } from "@konverge/kinds";
import { controllersComponent } from "../../parts/part.ts";
import { approver } from "./approver.ts";
import { cleaner, signer } from "./signer.ts";

/** Approves, signs and forgets CertificateSigningRequests. */
export const certificates = controllersComponent(
  "certificate-controller",
  [CertificateSigningRequest],
  ({ authority }) => [approver(), signer(authority), cleaner()],
);
