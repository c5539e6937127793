import type { VerifyCase } from "../verify-case.ts";
import { chainCases } from "./chains.ts";
import { constraintCases } from "./constraints.ts";
import { hostnameCases } from "./hostnames.ts";
import { parsingCases } from "./parsing.ts";
import { policyCases } from "./policies.ts";
import { signatureCases } from "./signatures.ts";

/** All cases with certificates that are made here; each time with new keys. */
export function madeCases(): VerifyCase[] {
  return [
    ...chainCases(),
    ...hostnameCases(),
    ...constraintCases(),
    ...signatureCases(),
    ...parsingCases(),
    ...policyCases(),
  ];
}
