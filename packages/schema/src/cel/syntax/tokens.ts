/** Token types, numbered in the order in which expected tokens are listed in messages. */
export const T = {
  EOF: -1,
  EQUALS: 1,
  NOT_EQUALS: 2,
  IN: 3,
  LESS: 4,
  LESS_EQUALS: 5,
  GREATER_EQUALS: 6,
  GREATER: 7,
  AND: 8,
  OR: 9,
  LBRACKET: 10,
  RBRACKET: 11,
  LBRACE: 12,
  RBRACE: 13,
  LPAREN: 14,
  RPAREN: 15,
  DOT: 16,
  COMMA: 17,
  MINUS: 18,
  EXCLAM: 19,
  QUESTION: 20,
  COLON: 21,
  PLUS: 22,
  STAR: 23,
  SLASH: 24,
  PERCENT: 25,
  TRUE: 26,
  FALSE: 27,
  NULL: 28,
  FLOAT: 31,
  INT: 32,
  UINT: 33,
  STRING: 34,
  BYTES: 35,
  IDENTIFIER: 36,
  ESCAPED_IDENTIFIER: 37,
} as const;

/** The spelling of every token that has only one. Longer ones first, so that the first match is the longest. */
export const FIXED_TOKENS: readonly (readonly [text: string, type: number])[] = [
  ["==", T.EQUALS],
  ["!=", T.NOT_EQUALS],
  ["<=", T.LESS_EQUALS],
  [">=", T.GREATER_EQUALS],
  ["&&", T.AND],
  ["||", T.OR],
  ["<", T.LESS],
  [">", T.GREATER],
  ["[", T.LBRACKET],
  ["]", T.RBRACKET],
  ["{", T.LBRACE],
  ["}", T.RBRACE],
  ["(", T.LPAREN],
  [")", T.RPAREN],
  [".", T.DOT],
  [",", T.COMMA],
  ["-", T.MINUS],
  ["!", T.EXCLAM],
  ["?", T.QUESTION],
  [":", T.COLON],
  ["+", T.PLUS],
  ["*", T.STAR],
  ["/", T.SLASH],
  ["%", T.PERCENT],
];

/** Words that are tokens. */
export const KEYWORDS: ReadonlyMap<string, number> = new Map([
  ["in", T.IN],
  ["true", T.TRUE],
  ["false", T.FALSE],
  ["null", T.NULL],
]);

const NAMES = new Map<number, string>([
  ...[...FIXED_TOKENS, ...KEYWORDS].map(([text, type]) => [type, `'${text}'`] as const),
  [T.EOF, "<EOF>"],
  [T.FLOAT, "NUM_FLOAT"],
  [T.INT, "NUM_INT"],
  [T.UINT, "NUM_UINT"],
  [T.STRING, "STRING"],
  [T.BYTES, "BYTES"],
  [T.IDENTIFIER, "IDENTIFIER"],
  [T.ESCAPED_IDENTIFIER, "ESC_IDENTIFIER"],
]);

/** How messages call a type of token: `'['`, `NUM_INT`, `<EOF>`. */
export function tokenName(type: number): string {
  return NAMES.get(type) ?? "<INVALID>";
}

/** Whether a type of token has only one spelling. */
export function isFixed(type: number): boolean {
  return type !== T.EOF && tokenName(type).startsWith("'");
}

/** A piece of the text, as the lexer cuts it. */
export interface Token {
  readonly type: number;
  readonly text: string;
  /** Offsets in code points; `end` is exclusive. A token made up to repair an error lies where the next one does. */
  readonly start: number;
  readonly end: number;
}
