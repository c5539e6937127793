/**
 * Definitions that use every feature of `defineKind` at least once. Their CRDs have to be accepted by a real API server,
 * and objects generated from their schemas have to be accepted or refused by it exactly as by our own validator.
 */
import * as collections from "./collections.ts";
import * as operators from "./operators.ts";
import * as rules from "./rules.ts";
import * as scalars from "./scalars.ts";
import * as structures from "./structures.ts";
import * as surfaces from "./surfaces.ts";

const modules = { ...collections, ...operators, ...rules, ...scalars, ...structures, ...surfaces };

/** All kinds of the corpus. */
export const CORPUS = Object.values(modules);
