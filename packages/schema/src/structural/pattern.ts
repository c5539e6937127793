import { RE2JS } from "re2js";

/**
 * What all patterns of one definition together may need to be compiled, in instructions. A few characters can stand for many
 * instructions (`(…){1000}`), and for large tables (`\p{L}`): compiling a definition full of them would take minutes.
 */
export class PatternBudget {
  #left = 500_000;

  /** Takes what a pattern needs; false when there is not enough left. */
  take(pattern: string): boolean {
    this.#left -= patternCost(pattern);
    return this.#left >= 0;
  }
}

const TOO_LARGE = "error parsing regexp: expression too large";

interface CompiledPattern {
  matcher(text: string): { find(): boolean };
  programSize(): number;
}

/** Compiles an RE2 pattern; throws an Error with the words of Go's regexp package. */
export function compilePattern(pattern: string, budget = new PatternBudget()): CompiledPattern {
  if (!budget.take(pattern)) throw new Error(TOO_LARGE);
  return RE2JS.compile(pattern);
}

/** How many instructions the table of a class such as `\p{L}` is worth: that much longer it takes to compile. */
const TABLE = 500;

/** About how many instructions a pattern becomes. */
function patternCost(pattern: string): number {
  // For each open group: what it has in all, and its last part, which a repetition would multiply.
  const groups = [{ total: 0, last: 0 }];
  let group = groups[0]!;
  const part = (cost: number) => {
    group.total += cost;
    group.last = cost;
  };
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern[i]!;
    if (character === "(") {
      group = { total: 1, last: 0 };
      groups.push(group);
    } else if (character === ")" && groups.length > 1) {
      const { total } = groups.pop()!;
      group = groups.at(-1)!;
      part(total + 1);
    } else if (character === "{") {
      REPETITION.lastIndex = i;
      const [whole, least, most] = REPETITION.exec(pattern) ?? [];
      if (whole === undefined) part(1);
      else {
        // The pattern's own limit, which the compiler reports.
        const times = Math.min(1000, Math.max(1, Number(least), Number(most || 0)));
        group.total += group.last * (times - 1);
        group.last *= times;
        i += whole.length - 1;
      }
    } else if (character === "\\") {
      const isTable = pattern[i + 1] === "p" || pattern[i + 1] === "P";
      part(isTable ? TABLE : 1);
      i++;
    } else part(1);
  }
  return groups.reduce((sum, { total }) => sum + total, 0);
}

const REPETITION = /\{(\d+)(?:,(\d*))?\}/y;
