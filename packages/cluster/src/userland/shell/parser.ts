import { Scanner } from "./scanner.ts";
import { type Assignment, type Node, type Redirection, type Script, ShellSyntaxError, type Word } from "./syntax.ts";

const REDIRECTIONS = new Set(["<", ">", ">>", ">&", "<&", "&>", "<<", "<<-", "<<<"]);
const RESERVED = new Set(["then", "elif", "else", "fi", "do", "done", "esac", "}"]);
const ASSIGNS = /^([A-Za-z_][A-Za-z0-9_]*)=/;

/** The longest script, in characters: reading it is done in one go. */
const LONGEST = 128 * 1024;

/** Parses a script, up to an operator or reserved word that ends the requested part. */
export function parseScript(source: string | Scanner, ends: readonly string[] = []): Script {
  if (typeof source === "string" && source.length > LONGEST) throw new ShellSyntaxError("script is too long");
  const scanner = typeof source === "string" ? new Scanner(source, parseScript) : source;
  const script: Node[] = [];
  for (;;) {
    while (scanner.peekOperator() === "\n" || scanner.peekOperator() === ";") scanner.takeOperator();
    if (scanner.atEnd || isEnd(scanner, ends)) return script;
    const node = parseList(scanner);
    const operator = scanner.peekOperator();
    if (operator === "&") {
      scanner.takeOperator();
      script.push({ kind: "background", body: node });
      continue;
    }
    script.push(node);
    if (operator === ";" || operator === "\n") continue;
    if (scanner.atEnd || isEnd(scanner, ends)) return script;
    throw scanner.error();
  }
}

function isEnd(scanner: Scanner, ends: readonly string[]): boolean {
  const operator = scanner.peekOperator();
  if (operator !== undefined) return ends.includes(operator);
  const plain = scanner.peekPlain();
  if (plain !== undefined && ends.includes(plain)) return true;
  if (plain !== undefined && RESERVED.has(plain)) throw scanner.error();
  return false;
}

function parseList(scanner: Scanner): Node {
  const first = parsePipeline(scanner);
  const rest: { operator: "&&" | "||"; command: Node }[] = [];
  for (;;) {
    const operator = scanner.peekOperator();
    if (operator !== "&&" && operator !== "||") return rest.length === 0 ? first : { kind: "list", first, rest };
    scanner.takeOperator();
    skipLines(scanner);
    rest.push({ operator, command: parsePipeline(scanner) });
  }
}

function parsePipeline(scanner: Scanner): Node {
  const negated = scanner.peekPlain() === "!";
  if (negated) scanner.word();
  const commands = [parseCommand(scanner)];
  while (scanner.peekOperator() === "|") {
    scanner.takeOperator();
    skipLines(scanner);
    commands.push(parseCommand(scanner));
  }
  return commands.length === 1 && !negated ? commands[0]! : { kind: "pipeline", commands, negated };
}

function parseCommand(scanner: Scanner): Node {
  return scanner.deeper(() => parseNested(scanner));
}

function parseNested(scanner: Scanner): Node {
  if (scanner.peekOperator() === "(") {
    scanner.takeOperator();
    const body = parseScript(scanner, [")"]);
    expectOperator(scanner, ")");
    return { kind: "subshell", body, redirections: redirectionsOf(scanner) };
  }
  switch (scanner.peekPlain()) {
    case "{": {
      scanner.word();
      const body = parseScript(scanner, ["}"]);
      expectWord(scanner, "}");
      return { kind: "group", body, redirections: redirectionsOf(scanner) };
    }
    case "if":
      return parseIf(scanner);
    case "while":
    case "until":
      return parseLoop(scanner);
    case "for":
      return parseFor(scanner);
    case "case":
      return parseCase(scanner);
    case "function":
      scanner.word();
      return parseFunction(scanner, textOf(scanner.word()).replace(/\(\)$/, ""));
    default:
      return parseSimple(scanner);
  }
}

function parseIf(scanner: Scanner): Node {
  const branches: { condition: Script; body: Script }[] = [];
  let otherwise: Script | undefined;
  for (;;) {
    scanner.word();
    const condition = parseScript(scanner, ["then"]);
    expectWord(scanner, "then");
    const body = parseScript(scanner, ["elif", "else", "fi"]);
    branches.push({ condition, body });
    const next = scanner.peekPlain();
    if (next === "elif") continue;
    if (next === "else") {
      scanner.word();
      otherwise = parseScript(scanner, ["fi"]);
    }
    expectWord(scanner, "fi");
    return { kind: "if", branches, otherwise, redirections: redirectionsOf(scanner) };
  }
}

function parseLoop(scanner: Scanner): Node {
  const until = textOf(scanner.word()) === "until";
  const condition = parseScript(scanner, ["do"]);
  const body = parseBody(scanner);
  return { kind: "loop", until, condition, body, redirections: redirectionsOf(scanner) };
}

function parseFor(scanner: Scanner): Node {
  scanner.word();
  const name = textOf(scanner.word());
  skipLines(scanner);
  let words: Word[] | undefined;
  if (scanner.peekPlain() === "in") {
    scanner.word();
    words = [];
    while (!scanner.atEnd && scanner.peekOperator() === undefined) words.push(scanner.word());
  }
  while (scanner.peekOperator() === ";" || scanner.peekOperator() === "\n") scanner.takeOperator();
  return { kind: "for", name, words, body: parseBody(scanner), redirections: redirectionsOf(scanner) };
}

function parseBody(scanner: Scanner): Script {
  expectWord(scanner, "do");
  const body = parseScript(scanner, ["done"]);
  expectWord(scanner, "done");
  return body;
}

function parseCase(scanner: Scanner): Node {
  scanner.word();
  const subject = scanner.word();
  skipLines(scanner);
  expectWord(scanner, "in");
  const choices: { patterns: Word[]; body: Script }[] = [];
  for (;;) {
    skipLines(scanner);
    if (scanner.peekPlain() === "esac") break;
    if (scanner.peekOperator() === "(") scanner.takeOperator();
    const patterns = [scanner.word()];
    while (scanner.peekOperator() === "|") {
      scanner.takeOperator();
      patterns.push(scanner.word());
    }
    expectOperator(scanner, ")");
    const body = parseScript(scanner, [";;", "esac"]);
    choices.push({ patterns, body });
    if (scanner.peekOperator() === ";;") scanner.takeOperator();
  }
  expectWord(scanner, "esac");
  return { kind: "case", subject, choices, redirections: redirectionsOf(scanner) };
}

function parseFunction(scanner: Scanner, name: string): Node {
  const start = scanner.at;
  if (scanner.peekOperator() === "(") {
    scanner.takeOperator();
    expectOperator(scanner, ")");
  }
  skipLines(scanner);
  const body = parseCommand(scanner);
  return { kind: "function", name, body, size: scanner.at - start };
}

function parseSimple(scanner: Scanner): Node {
  const assignments: Assignment[] = [];
  const words: Word[] = [];
  const redirections: Redirection[] = [];
  for (;;) {
    const redirection = redirectionOf(scanner);
    if (redirection) {
      redirections.push(redirection);
      continue;
    }
    const operator = scanner.peekOperator();
    if (operator === "(" && words.length === 1 && assignments.length === 0)
      return parseFunction(scanner, textOf(words[0]!));
    if (operator !== undefined || scanner.atEnd) break;
    const word = scanner.word();
    const assigned = words.length === 0 ? assignmentOf(word) : undefined;
    if (assigned) assignments.push(assigned);
    else words.push(word);
  }
  if (words.length + assignments.length + redirections.length === 0) throw scanner.error();
  return { kind: "simple", assignments, words, redirections };
}

function assignmentOf(word: Word): Assignment | undefined {
  const [first, ...rest] = word;
  if (first?.kind !== "text" || first.quoted) return undefined;
  const [whole, name] = ASSIGNS.exec(first.text) ?? [];
  if (whole === undefined || name === undefined) return undefined;
  return { name, value: [{ ...first, text: first.text.slice(whole.length) }, ...rest] };
}

function redirectionsOf(scanner: Scanner): Redirection[] {
  const found: Redirection[] = [];
  for (let one = redirectionOf(scanner); one; one = redirectionOf(scanner)) found.push(one);
  return found;
}

function redirectionOf(scanner: Scanner): Redirection | undefined {
  const start = scanner.at;
  const descriptor = scanner.takeDescriptor();
  const operator = scanner.peekOperator();
  if (operator === undefined || !REDIRECTIONS.has(operator)) {
    scanner.at = start;
    return undefined;
  }
  scanner.takeOperator();
  const target = scanner.word();
  const standard = operator.startsWith("<") ? 0 : 1;
  if (operator === "<<" || operator === "<<-") {
    const document: { descriptor: number; operator: "<<"; target: Word } = {
      descriptor: 0,
      operator: "<<",
      target: [],
    };
    const raw = target.some((part) => part.kind === "text" && part.quoted);
    scanner.awaitDocument(textOf(target), raw, operator === "<<-", (content) => {
      document.target = content;
    });
    return document;
  }
  return { descriptor: descriptor ?? standard, operator: operator as Redirection["operator"], target };
}

function skipLines(scanner: Scanner): void {
  while (scanner.peekOperator() === "\n") scanner.takeOperator();
}

function expectOperator(scanner: Scanner, operator: string): void {
  if (scanner.peekOperator() !== operator) throw scanner.error();
  scanner.takeOperator();
}

function expectWord(scanner: Scanner, text: string): void {
  if (scanner.peekPlain() !== text) throw scanner.error();
  scanner.word();
}

/** The text of a word that has no expansions. */
export function textOf(word: Word): string {
  return word.map((part) => (part.kind === "text" ? part.text : "")).join("");
}
