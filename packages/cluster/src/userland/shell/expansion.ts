import { posix } from "node:path";
import type { Effort } from "../effort.ts";
import type { FileSystem } from "../file-system.ts";
import type { Holding } from "../limits/memory.ts";
import { sorted } from "../sorting.ts";
import { evaluate } from "./arithmetic.ts";
import { Glob, hasPattern, literally } from "./pattern.ts";
import { type Script, ShellSyntaxError, type Word, type WordPart } from "./syntax.ts";

/** What words are expanded with. */
export interface ExpansionScope extends Effort {
  readonly memory: Holding;
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
  /** A word always ends after it. */
  readonly breaks?: boolean;
}

/** An argument in the making. */
type Field = Piece[];

/** Characters of text that are one step of work. */
const PER_STEP = 1024;
/** What a word takes besides its characters, in bytes. */
const WORD = 48;

/** Expands words to arguments; `held` counts their memory. */
export async function expandWords(scope: ExpansionScope, words: readonly Word[], held: Holding): Promise<string[]> {
  const found: string[] = [];
  const add = (text: string) => {
    held.hold(text.length + WORD);
    found.push(text);
  };
  for (const word of words) {
    const [only] = word;
    if (word.length === 1 && only?.kind === "text" && (only.quoted || /^[\w./:=-]+$/.test(only.text))) {
      add(only.text);
      continue;
    }
    for (const [index, field] of (await fieldsOf(scope, await piecesOf(scope, word), held)).entries()) {
      if (index % 64 === 63) await scope.spend(16);
      const matches = field.some(({ text, quoted }) => !quoted && hasPattern(text))
        ? await matchingPaths(scope, field.map(asPattern).join(""), held)
        : [];
      for (const match of matches) add(match);
      if (matches.length === 0) add(field.map(({ text }) => text).join(""));
    }
  }
  return found;
}

/** Expands a word to one text, which is not split: the value of an assignment, the target of a redirection. */
export async function expandText(scope: ExpansionScope, word: Word): Promise<string> {
  return (await piecesOf(scope, word)).map(({ text, breaks }) => (breaks ? `${text} ` : text)).join("");
}

/** Expands a word to a pattern, in which quoted text is literal. */
export async function expandPattern(scope: ExpansionScope, word: Word): Promise<string> {
  return (await piecesOf(scope, word)).map(asPattern).join("");
}

function asPattern({ text, quoted }: Piece): string {
  return quoted ? literally(text) : text;
}

async function piecesOf(scope: ExpansionScope, word: Word): Promise<Piece[]> {
  const pieces: Piece[] = [];
  let length = 0;
  const add = (piece: Piece) => {
    length += piece.text.length;
    scope.memory.checkText(length);
    pieces.push(piece);
  };
  for (const [index, part] of word.entries()) {
    if (part.kind === "text") {
      const isHome = index === 0 && !part.quoted && /^~(?=\/|$)/.test(part.text);
      const text = isHome ? part.text.replace("~", () => scope.get("HOME") ?? "/root") : part.text;
      add({ text, quoted: part.quoted });
    } else if (part.kind === "command") {
      add({ text: withoutLastLines(await scope.capture(part.script)), quoted: part.quoted });
    } else if (part.kind === "arithmetic") {
      const expression = await expandText(scope, part.expression);
      await scope.spend(1 + expression.length / 64);
      add({ text: String(evaluate(expression, scope)), quoted: part.quoted });
    } else for (const piece of await variablePieces(scope, part)) add(piece);
  }
  const pause = scope.spend(length / PER_STEP);
  if (pause) await pause;
  return pieces;
}

function withoutLastLines(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === "\n") end--;
  return text.slice(0, end);
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
      return piece(await trimmed(scope, value ?? "", await expandPattern(scope, operand), kind));
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
async function trimmed(scope: ExpansionScope, text: string, glob: string, operator: string): Promise<string> {
  const pattern = new Glob(glob);
  const longest = operator.length === 2;
  if (operator.startsWith("#")) return text.slice((await pattern.beginning(text, longest, scope)) ?? 0);
  return text.slice(0, text.length - ((await pattern.ending(text, longest, scope)) ?? 0));
}

const BETWEEN_BLANKS = /[^ \t\n]+/g;

/** Splits pieces at the blanks that are not quoted. */
async function fieldsOf(scope: ExpansionScope, pieces: readonly Piece[], held: Holding): Promise<Field[]> {
  const fields: Field[] = [];
  let field: Piece[] | undefined;
  const end = () => {
    if (!field) return;
    held.hold(WORD);
    fields.push(field);
    field = undefined;
  };
  const add = (piece: Piece) => {
    field ??= [];
    field.push(piece);
  };
  for (const piece of pieces) {
    const { text, quoted, breaks } = piece;
    if (quoted) add(piece);
    else {
      for (let at = 0; at < text.length; ) {
        BETWEEN_BLANKS.lastIndex = at;
        const found = BETWEEN_BLANKS.exec(text);
        if ((found?.index ?? text.length) > at) end();
        if (!found) break;
        add({ text: found[0], quoted });
        at = found.index + found[0].length;
        if (fields.length % 64 === 63) await scope.spend(16);
      }
    }
    if (breaks) end();
  }
  end();
  return fields;
}

async function matchingPaths(scope: ExpansionScope, glob: string, held: Holding): Promise<readonly string[]> {
  const { files, cwd } = scope;
  let found = [glob.startsWith("/") ? "/" : ""];
  for (const name of glob.split("/").filter((part) => part !== "")) {
    const next: string[] = [];
    const add = (base: string, child: string) => {
      const path = base === "" ? child : posix.join(base, child);
      held.hold(path.length + WORD);
      next.push(path);
    };
    const pattern = hasPattern(name) ? new Glob(name) : undefined;
    for (const base of found) {
      await scope.spend(1 + base.length / PER_STEP);
      const at = posix.resolve(cwd, base);
      if (!pattern) {
        const child = name.replaceAll(/\\(.)/g, "$1");
        if (files.exists(posix.join(at, child))) add(base, child);
        continue;
      }
      for (const child of childrenOf(files, at)) {
        await scope.spend(1);
        if (child.startsWith(".") && !name.startsWith(".")) continue;
        if (await pattern.matches(child, scope)) add(base, child);
      }
    }
    found = next;
  }
  const paths = found.filter((path) => path !== "");
  return sorted(paths, (a, b) => (a < b ? -1 : a > b ? 1 : 0), scope);
}

function childrenOf(files: FileSystem, path: string): string[] {
  try {
    return files.list(path);
  } catch {
    return [];
  }
}
