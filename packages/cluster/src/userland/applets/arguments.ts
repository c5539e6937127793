/** The flags and operands of a command line. */
export interface Arguments {
  /** Flags by their letter or name; those that take a value have it, the others are empty. */
  readonly flags: ReadonlyMap<string, string>;
  readonly operands: readonly string[];
}

/**
 * Splits arguments as getopt does: `-n 5`, `-n5`, `-la`, `--name=value`, `--name value`. `valued` names the flags that take
 * a value.
 */
export function argumentsOf(words: readonly string[], valued: readonly string[] = []): Arguments {
  const flags = new Map<string, string>();
  const operands: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!;
    if (word === "--") {
      for (const operand of words.slice(at + 1)) operands.push(operand);
      break;
    }
    if (word.startsWith("--")) {
      const [name = "", ...value] = word.slice(2).split("=");
      if (word.includes("=")) flags.set(name, value.join("="));
      else flags.set(name, valued.includes(name) ? (words[++at] ?? "") : "");
    } else if (word.startsWith("-") && word.length > 1) {
      for (let letter = 1; letter < word.length; letter++) {
        const name = word[letter]!;
        if (!valued.includes(name)) {
          flags.set(name, "");
          continue;
        }
        const rest = word.slice(letter + 1);
        flags.set(name, rest === "" ? (words[++at] ?? "") : rest);
        break;
      }
    } else operands.push(word);
  }
  return { flags, operands };
}
