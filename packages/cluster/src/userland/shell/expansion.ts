import { posix } from "node:path";
import type { FileSystem } from "../file-system.ts";
import { evaluate } from "./arithmetic.ts";
import { hasPattern, literally, patternOf, withoutEscapes } from "./pattern.ts";
import { type Script, ShellSyntaxError, type Word, type WordPart } from "./syntax.ts";

/** What words are expanded with. */
export interface ExpansionScope {
  readonly files: FileSystem;
  readonly cwd: string;
  /** A variable or parameter; undefined when it is not set. */
  get(name: string): string | undefined;
  set(name: string, value: string): void;
  /** The positional parameters. */
  readonly parameters: readonly string[];
  /** Variables that are not set are an error. */
  readonly strict: boolean;
  /** What a script writes. */
  capture(script: Script): Promise<string>;
}

/** A piece of a word after expansion. */
interface Piece {
  readonly text: string;
  readonly quoted: boolean;
  /** A word ends after it, whatever follows. */
  readonly breaks?: boolean;
}

/** Expands words to the arguments they stand for. */
export async function expandWords(scope: ExpansionScope, words: readonly Word[]): Promise<string[]> {
  const found: string[] = [];
  for (const word of words) {
    for (const field of fieldsOf(await piecesOf(scope, word))) {
      const matches = hasPattern(field) ? matchingPaths(scope, field) : [];
      if (matches.length > 0) found.push(...matches);
      else found.push(withoutEscapes(field));
    }
  }
  return found;
}

/** Expands a word to one text, which is not split: the value of an assignment, the target of a redirection. */
export async function expandText(scope: ExpansionScope, word: Word): Promise<string> {
  return (await piecesOf(scope, word)).map(({ text, breaks }) => (breaks ? `${text} ` : text)).join("");
}

/** Expands a word to a pattern, in which what was quoted stands for itself. */
export async function expandPattern(scope: ExpansionScope, word: Word): Promise<string> {
  return (await piecesOf(scope, word)).map(({ text, quoted }) => (quoted ? literally(text) : text)).join("");
}

async function piecesOf(scope: ExpansionScope, word: Word): Promise<Piece[]> {
  const pieces: Piece[] = [];
  for (const [index, part] of word.entries()) {
    if (part.kind === "text") {
      const isHome = index === 0 && !part.quoted && /^~(?=\/|$)/.test(part.text);
      const text = isHome ? part.text.replace("~", scope.get("HOME") ?? "/root") : part.text;
      pieces.push({ text, quoted: part.quoted });
    } else if (part.kind === "command") {
      pieces.push({ text: (await scope.capture(part.script)).replace(/\n+$/, ""), quoted: part.quoted });
    } else if (part.kind === "arithmetic") {
      const expression = await expandText(scope, part.expression);
      pieces.push({ text: String(evaluate(expression, scope)), quoted: part.quoted });
    } else pieces.push(...(await variablePieces(scope, part)));
  }
  return pieces;
}

async function variablePieces(
  scope: ExpansionScope,
  part: Extract<WordPart, { kind: "variable" }>,
): Promise<readonly Piece[]> {
  const { name, quoted, operator, operand = [] } = part;
  if (name === "@" && operator === undefined) {
    const last = scope.parameters.length - 1;
    return scope.parameters.map((text, index) => ({ text, quoted, ...(index < last && { breaks: true }) }));
  }
  const value = scope.get(name);
  const piece = (text: string): Piece[] => [{ text, quoted }];
  if (operator === "length") return piece(String((value ?? "").length));
  const kind = operator?.replace(":", "");
  const isMissing = value === undefined || (operator?.startsWith(":") && value === "");
  switch (kind) {
    case "-":
      return isMissing ? operandPieces(scope, operand, quoted) : piece(value);
    case "=": {
      if (!isMissing) return piece(value);
      const given = await expandText(scope, operand);
      scope.set(name, given);
      return piece(given);
    }
    case "?": {
      if (!isMissing) return piece(value);
      const said = await expandText(scope, operand);
      throw new ShellSyntaxError(`${name}: ${said || "parameter not set"}`);
    }
    case "+":
      return isMissing ? piece("") : operandPieces(scope, operand, quoted);
    case "%":
    case "%%":
    case "#":
    case "##":
      return piece(trimmed(value ?? "", await expandPattern(scope, operand), kind));
    default:
      if (value === undefined && scope.strict && !/^[@*#?$!-]$/.test(name))
        throw new ShellSyntaxError(`${name}: parameter not set`);
      return piece(value ?? "");
  }
}

async function operandPieces(scope: ExpansionScope, operand: Word, quoted: boolean): Promise<Piece[]> {
  return (await piecesOf(scope, operand)).map((piece) => ({ ...piece, quoted: quoted || piece.quoted }));
}

/** Takes the shortest or longest match of a pattern off an end of a text. */
function trimmed(text: string, glob: string, operator: string): string {
  const pattern = patternOf(glob);
  const lengths = Array.from({ length: text.length + 1 }, (_, length) => length);
  if (operator.length === 2) lengths.reverse();
  for (const length of lengths) {
    const isFront = operator.startsWith("#");
    const piece = isFront ? text.slice(0, length) : text.slice(text.length - length);
    if (pattern.test(piece)) return isFront ? text.slice(length) : text.slice(0, text.length - length);
  }
  return text;
}

/** Splits pieces at the blanks that are not quoted. Patterns stay; what was quoted stands for itself in them. */
function fieldsOf(pieces: readonly Piece[]): string[] {
  const fields: string[] = [];
  let field: string | undefined;
  const end = () => {
    if (field !== undefined) fields.push(field);
    field = undefined;
  };
  for (const { text, quoted, breaks } of pieces) {
    if (quoted) field = (field ?? "") + literally(text);
    else {
      for (const [index, part] of text.split(/[ \t\n]+/).entries()) {
        if (index > 0) end();
        if (part !== "") field = (field ?? "") + part;
      }
    }
    if (breaks) end();
  }
  end();
  return fields;
}

function matchingPaths({ files, cwd }: ExpansionScope, glob: string): string[] {
  const isAbsolute = glob.startsWith("/");
  let found = [isAbsolute ? "/" : ""];
  for (const name of glob.split("/").filter((part) => part !== "")) {
    const next: string[] = [];
    for (const base of found) {
      const path = (child: string) => (base === "" ? child : posix.join(base, child));
      if (!hasPattern(name)) {
        if (files.exists(posix.resolve(cwd, path(withoutEscapes(name))))) next.push(path(withoutEscapes(name)));
        continue;
      }
      const pattern = patternOf(name, { inPath: true });
      for (const child of childrenOf(files, posix.resolve(cwd, base)))
        if (pattern.test(child) && (!child.startsWith(".") || name.startsWith("."))) next.push(path(child));
    }
    found = next;
  }
  return found.filter((path) => path !== "").sort();
}

function childrenOf(files: FileSystem, path: string): string[] {
  try {
    return files.list(path);
  } catch {
    return [];
  }
}
