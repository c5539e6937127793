import { type Cursor, isBlank, isBlankOrEnd, isBreak, isBreakOrEnd, isDigit, isWord } from "./cursor.ts";

/** A tag as it is written: `!handle!suffix`; an empty handle where the suffix is all of it. */
export interface TagText {
  readonly handle: string;
  readonly suffix: string;
}

/** A `%` line before a document. */
export type Directive =
  | { readonly name: "YAML"; readonly version: string }
  | { readonly name: "TAG"; readonly handle: string; readonly prefix: string };

/** Scans a tag; the cursor is on its `!`. */
export function scanTag(cursor: Cursor): TagText {
  let tag: TagText;
  if (cursor.text[cursor.at + 1] === "<") {
    cursor.skip(2);
    tag = { handle: "", suffix: scanUri(cursor, false) };
    if (!cursor.is(">")) cursor.fail("did not find the expected '>'");
    cursor.skip();
  } else {
    const handle = scanHandle(cursor, false);
    if (handle.length > 1 && handle.endsWith("!")) tag = { handle, suffix: scanUri(cursor, false) };
    else {
      const suffix = scanUri(cursor, true, handle.slice(1));
      tag = suffix === "" ? { handle: "", suffix: handle } : { handle: "!", suffix };
    }
  }
  if (!isBlankOrEnd(cursor.code())) cursor.fail("did not find expected whitespace or line break");
  return tag;
}

/** Scans a directive, to the end of its line; the cursor is on its `%`. */
export function scanDirective(cursor: Cursor): Directive {
  cursor.skip();
  const name = cursor.take(isWord);
  if (name === "") cursor.fail("could not find expected directive name");
  if (!isBlankOrEnd(cursor.code())) cursor.fail("found unexpected non-alphabetical character");
  let directive: Directive;
  if (name === "YAML") directive = { name, version: scanVersion(cursor) };
  else if (name === "TAG") directive = { name, ...scanTagDirective(cursor) };
  else cursor.fail("found unknown directive name");
  cursor.skipBlanks();
  cursor.skipComment();
  if (!isBreakOrEnd(cursor.code())) cursor.fail("did not find expected comment or line break");
  if (isBreak(cursor.code())) cursor.skipBreak();
  return directive;
}

function scanVersion(cursor: Cursor): string {
  cursor.skipBlanks();
  const major = scanVersionNumber(cursor);
  if (!cursor.is(".")) cursor.fail("did not find expected digit or '.' character");
  cursor.skip();
  return `${major}.${scanVersionNumber(cursor)}`;
}

function scanVersionNumber(cursor: Cursor): number {
  let digits = "";
  while (isDigit(cursor.code())) {
    if (digits.length === 2) cursor.fail("found extremely long version number");
    digits += cursor.text[cursor.at];
    cursor.skip();
  }
  if (digits === "") cursor.fail("did not find expected version number");
  return Number(digits);
}

function scanTagDirective(cursor: Cursor): { handle: string; prefix: string } {
  cursor.skipBlanks();
  const handle = scanHandle(cursor, true);
  if (!isBlank(cursor.code())) cursor.fail("did not find expected whitespace");
  cursor.skipBlanks();
  const prefix = scanUri(cursor, false);
  if (!isBlankOrEnd(cursor.code())) cursor.fail("did not find expected whitespace or line break");
  return { handle, prefix };
}

function scanHandle(cursor: Cursor, isDirective: boolean): string {
  if (!cursor.is("!")) cursor.fail("did not find expected '!'");
  cursor.skip();
  const name = cursor.take(isWord);
  if (cursor.is("!")) {
    cursor.skip();
    return `!${name}!`;
  }
  if (isDirective && name !== "") cursor.fail("did not find expected '!'");
  return `!${name}`;
}

const URI = /[0-9A-Za-z_\-;/?:@&=+$,.!~*'()[\]%]/;

/** Scans the rest of a tag. `mayBeEmpty` where something of it has been read already: `head`. */
function scanUri(cursor: Cursor, mayBeEmpty: boolean, head = ""): string {
  let uri = head;
  let isEmpty = !mayBeEmpty;
  for (let next = cursor.text[cursor.at]; next !== undefined && URI.test(next); next = cursor.text[cursor.at]) {
    if (next === "%") uri += scanOctets(cursor);
    else {
      uri += next;
      cursor.skip();
    }
    isEmpty = false;
  }
  if (isEmpty) cursor.fail("did not find expected tag URI");
  return uri;
}

/** The octets of one character in UTF-8, each as `%XX`. */
function scanOctets(cursor: Cursor): string {
  const octets: number[] = [];
  let length = 1;
  while (octets.length < length) {
    const hex = /^%([0-9a-fA-F]{2})/.exec(cursor.text.slice(cursor.at, cursor.at + 3))?.[1];
    if (hex === undefined) cursor.fail("did not find URI escaped octet");
    const octet = Number.parseInt(hex, 16);
    if (octets.length > 0) {
      if ((octet & 0xc0) !== 0x80) cursor.fail("found an incorrect trailing UTF-8 octet");
    } else {
      length =
        octet < 0x80 ? 1 : (octet & 0xe0) === 0xc0 ? 2 : (octet & 0xf0) === 0xe0 ? 3 : (octet & 0xf8) === 0xf0 ? 4 : 0;
      if (length === 0) cursor.fail("found an incorrect leading UTF-8 octet");
    }
    octets.push(octet);
    cursor.skip(3);
  }
  return new TextDecoder().decode(Uint8Array.from(octets));
}
