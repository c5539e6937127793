/** Which types fit which, and what type parameters stand for. */
import { DYN, isDyn, isDynOrError, listType, mapType, opaqueType, sameType, type Type, typeType } from "./types.ts";

/** What is known about type parameters. Changed only when types turn out to fit. */
export class Substitutions {
  #known = new Map<string, Type>();

  /** Whether `a` fits `b`; if so, what this says about type parameters is remembered. */
  fits(a: Type, b: Type): boolean {
    return this.#try(() => this.#assignable(a, b));
  }

  /** Whether types fit one by one. */
  fitAll(a: readonly Type[], b: readonly Type[]): boolean {
    return this.#try(() => this.#allAssignable(a, b));
  }

  /** The type with everything known put in; `freeIsDyn` makes what is not known dynamic. */
  apply(type: Type, freeIsDyn: boolean): Type {
    const known = this.#find(type);
    if (known) return this.apply(known, freeIsDyn);
    switch (type.kind) {
      case "param":
        return freeIsDyn ? DYN : type;
      case "opaque":
        return opaqueType(type.name, ...type.params.map((param) => this.apply(param, freeIsDyn)));
      case "list":
        return listType(this.apply(type.params[0]!, freeIsDyn));
      case "map":
        return mapType(this.apply(type.params[0]!, freeIsDyn), this.apply(type.params[1]!, freeIsDyn));
      case "type":
        return type.params[0] ? typeType(this.apply(type.params[0], freeIsDyn)) : type;
      default:
        return type;
    }
  }

  /** Fresh parameters for those of a declaration. */
  static rename(names: ReadonlyMap<string, Type>): Substitutions {
    const substitutions = new Substitutions();
    substitutions.#known = new Map(names);
    return substitutions;
  }

  #try(attempt: () => boolean): boolean {
    const before = new Map(this.#known);
    const isFit = attempt();
    if (!isFit) this.#known = before;
    return isFit;
  }

  #find(type: Type): Type | undefined {
    return type.kind === "param" ? this.#known.get(type.name) : undefined;
  }

  #assignable(a: Type, b: Type): boolean {
    if (b.kind === "param") {
      const { isValid, isKnown } = this.#substitute(a, b);
      if (isValid) return true;
      if (isKnown) return false;
    }
    if (a.kind === "param") return this.#substitute(b, a).isValid;
    if (isDynOrError(a) || isDynOrError(b)) return true;
    if (a.kind === "null") return isNullable(b);
    if (b.kind === "null") return isNullable(a);
    if (a.kind === "type") return b.kind === "type";
    if (a.kind === "opaque" || a.kind === "list" || a.kind === "map")
      return a.kind === b.kind && a.name === b.name && this.#allAssignable(a.params, b.params);
    return sameType(a, b);
  }

  #allAssignable(a: readonly Type[], b: readonly Type[]): boolean {
    return a.length === b.length && a.every((type, i) => this.#assignable(type, b[i]!));
  }

  /** Whether the parameter can stand for `type`, in which case it does from now on. */
  #substitute(type: Type, param: Type): { isValid: boolean; isKnown: boolean } {
    if (sameType(type, param)) return { isValid: true, isKnown: true };
    const known = this.#find(param);
    if (known) {
      if (sameType(type, known)) return { isValid: true, isKnown: true };
      if (!this.#assignable(type, known)) return { isValid: false, isKnown: true };
      const general = mostGeneral(type, known);
      if (this.#isAbsent(param, general)) this.#known.set(param.name, general);
      return { isValid: true, isKnown: true };
    }
    const isValid = this.#isAbsent(param, type);
    if (isValid) this.#known.set(param.name, type);
    return { isValid, isKnown: false };
  }

  /** Whether a type does not contain the parameter: no type can be a part of itself. */
  #isAbsent(param: Type, within: Type): boolean {
    if (sameType(param, within)) return false;
    if (within.kind === "param") {
      const known = this.#find(within);
      return !known || this.#isAbsent(param, known);
    }
    return within.params.every((part) => this.#isAbsent(param, part));
  }
}

/** Values of these types may be null. */
function isNullable(type: Type): boolean {
  return ["opaque", "struct", "any", "duration", "timestamp", "null", "dyn"].includes(type.kind);
}

/** The more general of two types that fit each other. */
export function mostGeneral(a: Type, b: Type): Type {
  return isAtMostAsSpecific(a, b) ? a : b;
}

function isAtMostAsSpecific(a: Type, b: Type): boolean {
  if (isDyn(a) || a.kind === "param") return true;
  if (isDyn(b) || b.kind === "param") return false;
  if (a.kind !== b.kind) return false;
  if (a.kind === "type") return true;
  if (a.kind !== "opaque" && a.kind !== "list" && a.kind !== "map") return sameType(a, b);
  const isSameShape = a.name === b.name && a.params.length === b.params.length;
  return isSameShape && a.params.every((param, i) => isAtMostAsSpecific(param, b.params[i]!));
}
