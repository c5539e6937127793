/**
 * The declarations behind exported names: the text that `tsc` emits for a `.d.ts` file, with its comments, and without what
 * only a compiler needs.
 */
import { readFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import ts from "typescript";
import { emitted } from "../../scripts/release/emit.ts";
import type { EntryPoint } from "./entry-points.ts";

export type DeclarationKind = "function" | "class" | "constant" | "type";

export interface Declaration {
  readonly name: string;
  readonly kind: DeclarationKind;
  /** Its doc comment, without the comment signs. */
  readonly comment: string;
  /** Its text under the exported name, followed by what no entry point exports: helpers in the same module, and its base class. */
  readonly text: string;
  /** Names of types and functions that occur in it. */
  readonly mentions: readonly string[];
  /** The names of its members, if it has any. */
  readonly members: readonly string[];
}

/** Finds the declarations of all names of some entry points. */
export function declarationsOf(entryPoints: readonly EntryPoint[]): Map<EntryPoint, Declaration[]> {
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile("tsconfig.json", ts.sys.readFile).config,
    ts.sys,
    ".",
  );
  const program = ts.createProgram(
    entryPoints.map(({ file }) => file),
    options,
  );
  const checker = program.getTypeChecker();
  const targetOf = (symbol: ts.Symbol) =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const exported = new Map(
    entryPoints.map((entryPoint) => {
      const module = checker.getSymbolAtLocation(program.getSourceFile(entryPoint.file)!)!;
      return [entryPoint, checker.getExportsOfModule(module)] as const;
    }),
  );
  const documented = new Set([...exported.values()].flat().map(targetOf));
  const modules = new Map<string, ModuleText>();
  const declarationOf = (target: ts.Symbol, exportedAs: string): Declaration => {
    const [declaration] = target.declarations ?? [];
    if (!declaration) throw new Error(`${exportedAs} is not declared anywhere`);
    if (ts.isSourceFile(declaration)) return libraryDeclaration(declaration.fileName, exportedAs);
    const file = relative(".", resolve(declaration.getSourceFile().fileName)).replace(/\.ts$/, ".d.ts");
    let text = modules.get(file);
    if (!text) {
      text = new ModuleText(`${emitted}/${file}`);
      modules.set(file, text);
    }
    const own = text.declarationOf(target.name, exportedAs);
    const base = baseClassOf(declaration, checker);
    if (!base || documented.has(base)) return own;
    const inherited = declarationOf(base, base.name);
    return {
      ...own,
      text: `${own.text}\n\n${inherited.text}`,
      mentions: [...new Set([...own.mentions, ...inherited.mentions])],
      members: [...own.members, ...inherited.members],
    };
  };
  return new Map(
    [...exported].map(([entryPoint, symbols]) => [
      entryPoint,
      symbols.map((symbol) => declarationOf(targetOf(symbol), symbol.name)),
    ]),
  );
}

/** A whole library under one name: it has its own documentation. */
function libraryDeclaration(file: string, name: string): Declaration {
  const [folder, library] = /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)!;
  const { homepage } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8")) as { homepage: string };
  const comment = `The library [${library}](${homepage}).`;
  return { name, kind: "constant", comment, text: `export { ${name} } from "${library}";`, mentions: [], members: [] };
}

/** The class of this repository that a class extends. */
function baseClassOf(declaration: ts.Declaration, checker: ts.TypeChecker): ts.Symbol | undefined {
  if (!ts.isClassDeclaration(declaration)) return undefined;
  const clause = declaration.heritageClauses?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword);
  const symbol = clause?.types[0] && checker.getTypeAtLocation(clause.types[0]).symbol;
  const isOurs = symbol?.declarations?.some((one) => !one.getSourceFile().isDeclarationFile);
  return isOurs ? symbol : undefined;
}

/** One emitted module. */
class ModuleText {
  readonly #source: ts.SourceFile;
  /** Overloads, and a constant and a type of one name, are several statements. */
  readonly #statements = new Map<string, ts.Statement[]>();

  constructor(file: string) {
    this.#source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
    for (const statement of this.#source.statements) {
      for (const name of namesOf(statement)) {
        this.#statements.set(name, [...(this.#statements.get(name) ?? []), statement]);
      }
    }
  }

  declarationOf(name: string, exportedAs: string): Declaration {
    const own = this.#statements.get(name);
    if (!own) throw new Error(`${this.#source.fileName} does not declare ${name}`);
    const helpers = this.#helpersOf(own, name);
    const all = [...own, ...helpers];
    return {
      name: exportedAs,
      kind: kindOf(own),
      comment: own.map(commentOf).find((comment) => comment !== "") ?? "",
      text: all.map((statement) => textOf(statement, name, exportedAs)).join("\n\n"),
      mentions: [...new Set(all.flatMap(identifiersIn))].filter((one) => one !== name),
      members: all.flatMap(membersOf),
    };
  }

  /** What the module declares for itself alone, as far as these statements need it. */
  #helpersOf(statements: readonly ts.Statement[], name: string): ts.Statement[] {
    const found = new Set<ts.Statement>();
    const queue = [...statements];
    for (let next = queue.pop(); next; next = queue.pop()) {
      for (const mentioned of identifiersIn(next)) {
        if (mentioned === name) continue;
        for (const helper of this.#statements.get(mentioned) ?? []) {
          if (isExported(helper) || found.has(helper)) continue;
          found.add(helper);
          queue.push(helper);
        }
      }
    }
    return [...found];
  }
}

function namesOf(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  const { name } = statement as ts.Statement & { name?: ts.Identifier };
  return name ? [name.text] : [];
}

const isExported = (statement: ts.Statement) =>
  ts.canHaveModifiers(statement) &&
  (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);

function kindOf(statements: readonly ts.Statement[]): DeclarationKind {
  if (statements.some(ts.isFunctionDeclaration)) return "function";
  if (statements.some(ts.isClassDeclaration)) return "class";
  if (!statements.some(ts.isVariableStatement)) return "type";
  const text = statements.map((statement) => statement.getText()).join("\n");
  // A constant that is called like a function reads like one.
  return /^export declare const \w+: (<|\()/m.test(text) ? "function" : "constant";
}

function commentOf(statement: ts.Statement): string {
  const [comment] = (ts.getLeadingCommentRanges(statement.getSourceFile().text, statement.getFullStart()) ?? [])
    .map(({ pos, end }) => statement.getSourceFile().text.slice(pos, end))
    .filter((text) => text.startsWith("/**"))
    .slice(-1);
  return (comment ?? "")
    .replace(/^\/\*\*[ \t]*\n?|[ \t]*\*\/$/g, "")
    .replace(/^[ \t]*\*( |$)/gm, "")
    .trim();
}

/** A statement as people read it: without `export declare`, private members and the comment above it. */
function textOf(statement: ts.Statement, name: string, exportedAs: string): string {
  const text = statement
    .getText()
    .replace(/^export /, "")
    .replace(/^declare /, "")
    .replace(/^\s+(#private|private .*);\n/gm, "")
    .replaceAll("    ", "  ");
  return name === exportedAs ? text : text.replace(new RegExp(`^((?:\\w+ )+)${name}\\b`), `$1${exportedAs}`);
}

function identifiersIn(node: ts.Node): string[] {
  const found: string[] = [];
  const visit = (inner: ts.Node) => {
    if (ts.isTypeReferenceNode(inner) || ts.isExpressionWithTypeArguments(inner) || ts.isTypeQueryNode(inner)) {
      const named = ts.isTypeReferenceNode(inner)
        ? inner.typeName
        : ts.isTypeQueryNode(inner)
          ? inner.exprName
          : inner.expression;
      if (ts.isIdentifier(named)) found.push(named.text);
    }
    ts.forEachChild(inner, visit);
  };
  visit(node);
  return found;
}

function membersOf(node: ts.Node): string[] {
  const found: string[] = [];
  const visit = (inner: ts.Node) => {
    if (ts.isTypeElement(inner) && inner.name) found.push(inner.name.getText());
    ts.forEachChild(inner, visit);
  };
  visit(node);
  return found;
}
