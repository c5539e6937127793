import { Scanner, type Token } from "./scanner.ts";
import { problemInLine, YamlError, YamlLimitError } from "./yaml-error.ts";

/** A part of a document. Lines and columns count from 0. */
export class YamlNode {
  readonly kind: "scalar" | "list" | "map" | "alias";
  readonly line: number;
  readonly column: number;
  /** Empty where nothing is said. */
  readonly tag: string;
  /** The text of a scalar, or the name of what an alias stands for. */
  readonly text: string;
  /** A scalar without quotes and tag: its type follows from its text. */
  readonly isPlain: boolean;
  /** The items of a list; the keys and values of a map, in turn. */
  readonly items: YamlNode[];
  /** What an alias stands for. */
  readonly target: YamlNode | undefined;

  constructor(kind: YamlNode["kind"], { line, column }: Place, more: Partial<YamlNode> = NOTHING_MORE) {
    this.kind = kind;
    this.line = line;
    this.column = column;
    this.tag = more.tag ?? "";
    this.text = more.text ?? "";
    this.isPlain = more.isPlain ?? false;
    this.items = kind === "list" || kind === "map" ? [] : NO_ITEMS;
    this.target = more.target;
  }
}

type Place = Pick<Token, "line" | "column">;
const NOTHING_MORE = {};
const NO_ITEMS: YamlNode[] = [];

/** Reads the documents of a text, one at a time. Undefined after the last. */
export class NodeParser {
  readonly #scanner: Scanner;
  readonly #tagPrefixes = new Map<string, string>();
  #anchors = new Map<string, YamlNode>();
  #isFirst = true;
  readonly #mostNodes: number;
  #nodes = 0;

  constructor(text: string, mostNodes = Number.POSITIVE_INFINITY) {
    this.#scanner = new Scanner(text);
    this.#mostNodes = mostNodes;
  }

  nextDocument(): YamlNode | undefined {
    const document = this.#document();
    // What follows a document must at least be YAML.
    this.#scanner.peek();
    return document;
  }

  #document(): YamlNode | undefined {
    if (!this.#isFirst) this.#endDocument();
    const first = this.#scanner.peek();
    if (first.type === "end of stream") return undefined;
    this.#anchors = new Map();
    const isImplicit = this.#isFirst && first.type !== "directive" && first.type !== "document start";
    this.#isFirst = false;
    this.#directives();
    if (isImplicit) return this.#node({ block: true });
    const start = this.#scanner.peek();
    if (start.type !== "document start") throw wrong("did not find expected <document start>", start);
    this.#scanner.next();
    const { type } = this.#scanner.peek();
    if (type === "directive" || type === "document start" || type === "document end" || type === "end of stream") {
      return empty(this.#scanner.peek());
    }
    return this.#node({ block: true });
  }

  #endDocument(): void {
    this.#tagPrefixes.clear();
    while (this.#scanner.peek().type === "document end") this.#scanner.next();
  }

  #directives(): void {
    let hasVersion = false;
    for (let token = this.#scanner.peek(); token.directive; token = this.#scanner.peek()) {
      const { directive } = token;
      if (directive.name === "YAML") {
        if (hasVersion) throw wrong("found duplicate %YAML directive", token);
        if (directive.version !== "1.1") throw wrong("found incompatible YAML document", token);
        hasVersion = true;
      } else {
        if (this.#tagPrefixes.has(directive.handle)) throw wrong("found duplicate %TAG directive", token);
        this.#tagPrefixes.set(directive.handle, directive.prefix);
      }
      this.#scanner.next();
    }
    if (!this.#tagPrefixes.has("!")) this.#tagPrefixes.set("!", "!");
    if (!this.#tagPrefixes.has("!!")) this.#tagPrefixes.set("!!", "tag:yaml.org,2002:");
  }

  /** `indentless`: a list may stand at the column of the key it belongs to. */
  #node({ block = false, indentless = false }): YamlNode {
    if (++this.#nodes > this.#mostNodes) throw new YamlLimitError(this.#mostNodes);
    const first = this.#scanner.peek();
    if (first.type === "alias") {
      this.#scanner.next();
      const target = this.#anchors.get(first.text);
      if (!target) throw new YamlError(`yaml: unknown anchor '${first.text}' referenced`, first);
      return new YamlNode("alias", first, { text: first.text, target });
    }
    const { tag, anchor } = this.#properties();
    const token = this.#scanner.peek();
    const node = (kind: YamlNode["kind"], text = "", isPlain = false): YamlNode => {
      const made = new YamlNode(kind, first, { tag, text, isPlain });
      if (anchor !== undefined) this.#anchors.set(anchor, made);
      return made;
    };
    if (indentless && token.type === "-") return this.#entries(node("list"), false);
    switch (token.type) {
      case "scalar":
        this.#scanner.next();
        return node("scalar", token.text, tag === "!" || (tag === "" && token.isPlain));
      case "[":
        return this.#flowList(node("list"));
      case "{":
        return this.#flowMap(node("map"));
      case "block sequence":
        if (!block) break;
        this.#scanner.next();
        return this.#entries(node("list"), true);
      case "block mapping":
        if (block) return this.#blockMap(node("map"));
    }
    if (anchor === undefined && tag === "") throw wrong("did not find expected node content", token);
    return node("scalar", "", tag === "");
  }

  /** Tag and anchor, in any order. */
  #properties(): { tag: string; anchor?: string } {
    let tag: string | undefined;
    let anchor: string | undefined;
    for (;;) {
      const token = this.#scanner.peek();
      if (token.type === "anchor" && anchor === undefined) anchor = token.text;
      else if (token.tag && tag === undefined) {
        const { handle, suffix } = token.tag;
        const prefix = handle === "" ? "" : this.#tagPrefixes.get(handle);
        tag = `${prefix ?? ""}${suffix}`;
        if (prefix === undefined || tag === "") throw wrong("found undefined tag handle", token);
      } else return { tag: tag ?? "", ...(anchor !== undefined && { anchor }) };
      this.#scanner.next();
    }
  }

  /** The entries of a list in block form, up to the end of the list's block, if it has one. */
  #entries(list: YamlNode, hasBlock: boolean): YamlNode {
    for (;;) {
      const token = this.#scanner.peek();
      if (token.type !== "-") {
        if (!hasBlock) return list;
        if (token.type !== "block end") throw wrong("did not find expected '-' indicator", token);
        this.#scanner.next();
        return list;
      }
      this.#scanner.next();
      const { type } = this.#scanner.peek();
      const isEmpty = type === "-" || type === "block end" || (!hasBlock && (type === "key" || type === "value"));
      list.items.push(isEmpty ? empty(token) : this.#node({ block: true }));
    }
  }

  #blockMap(map: YamlNode): YamlNode {
    this.#scanner.next();
    for (;;) {
      const token = this.#scanner.peek();
      if (token.type === "block end") {
        this.#scanner.next();
        return map;
      }
      if (token.type !== "key") throw wrong("did not find expected key", token);
      this.#scanner.next();
      map.items.push(this.#blockPart(token));
      const value = this.#scanner.peek();
      if (value.type === "value") {
        this.#scanner.next();
        map.items.push(this.#blockPart(value));
      } else map.items.push(empty(value));
    }
  }

  /** A key or a value in a block, after its indicator. */
  #blockPart(indicator: Token): YamlNode {
    const { type } = this.#scanner.peek();
    const isEmpty = type === "key" || type === "value" || type === "block end";
    return isEmpty ? empty(indicator) : this.#node({ block: true, indentless: true });
  }

  #flowList(list: YamlNode): YamlNode {
    this.#scanner.next();
    for (let isFirst = true; !this.#endsFlow("]", isFirst); isFirst = false) {
      const token = this.#scanner.peek();
      list.items.push(token.type === "key" ? this.#singlePair(token) : this.#node({}));
    }
    return list;
  }

  /** A map of one entry, without braces, in a list. */
  #singlePair(token: Token): YamlNode {
    this.#scanner.next();
    const map = new YamlNode("map", token);
    const first = this.#scanner.peek();
    if (first.type === "value" || first.type === "," || first.type === "]") {
      // The library takes the indicator for the missing key.
      this.#scanner.next();
      map.items.push(empty(first));
    } else map.items.push(this.#node({}));
    map.items.push(this.#flowValue("]"));
    return map;
  }

  #flowMap(map: YamlNode): YamlNode {
    this.#scanner.next();
    for (let isFirst = true; !this.#endsFlow("}", isFirst); isFirst = false) {
      const token = this.#scanner.peek();
      if (token.type !== "key") {
        map.items.push(this.#node({}), empty(this.#scanner.peek()));
        continue;
      }
      this.#scanner.next();
      const key = this.#scanner.peek();
      const isEmpty = key.type === "value" || key.type === "," || key.type === "}";
      map.items.push(isEmpty ? empty(key) : this.#node({}));
      map.items.push(this.#flowValue("}"));
    }
    return map;
  }

  /** Whether a flow collection ends here. What comes after an entry must be a comma, or the end. */
  #endsFlow(closing: "]" | "}", isFirst: boolean): boolean {
    let token = this.#scanner.peek();
    if (token.type !== closing && !isFirst) {
      if (token.type !== ",") throw wrong(`did not find expected ',' or '${closing}'`, token);
      this.#scanner.next();
      token = this.#scanner.peek();
    }
    if (token.type !== closing) return false;
    this.#scanner.next();
    return true;
  }

  #flowValue(closing: "]" | "}"): YamlNode {
    const token = this.#scanner.peek();
    if (token.type !== "value") return empty(token);
    this.#scanner.next();
    const first = this.#scanner.peek();
    return first.type === "," || first.type === closing ? empty(first) : this.#node({});
  }
}

/** Nothing, where something could be: null. */
function empty(place: Place): YamlNode {
  return new YamlNode("scalar", place, PLAIN);
}

const PLAIN = { isPlain: true };

function wrong(problem: string, token: Token): YamlError {
  return new YamlError(problemInLine(problem, token.line), token);
}
