/** How many characters of a container's last output are reported. */
const LONGEST = 300;

/** What loggers write before a message: the process, and level, time and place. */
const PREFIX =
  /^(?:\([^()]*\bpid=\d+\) ?)?(?:(?:CRITICAL|FATAL|ERROR|WARNING|INFO|DEBUG)\s+[\d-]+\s+[\d:.,]+\s+\[[^\]]*\]\s?)?/;
const TRACEBACK = /^Traceback \(most recent call last\):/;
/** The line under a traceback, which has the exception. */
const EXCEPTION = /^[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit)\b(?::|$)/;
/** Servers with several processes end with an exception that only refers to that of another process. */
const ELSEWHERE = /\bsee (?:the )?root cause above\b/i;

/**
 * Why a program ended, from the end of its output: the last exception that does not refer to another one, otherwise the last
 * lines. Output begins anywhere, since nodes keep only its end.
 */
export function lastWords(output: string): string {
  const lines = output.split(/\r?\n/).map((line) => line.replace(PREFIX, "").trimEnd());
  const reference = lines.findLastIndex((line) => ELSEWHERE.test(line));
  const cause = reference < 0 ? undefined : exceptionIn(beforeTraceback(lines.slice(0, reference)));
  const found = cause ?? exceptionIn(lines) ?? lastLines(lines);
  return found.length <= LONGEST ? found : `${found.slice(0, LONGEST - 1)}…`;
}

/** Without the traceback that leads to the line after the last. */
function beforeTraceback(lines: readonly string[]): readonly string[] {
  const begin = lines.findLastIndex((line) => TRACEBACK.test(line));
  return begin < 0 ? [] : lines.slice(0, begin);
}

/** The last exception under a traceback, with all lines of its message. */
function exceptionIn(lines: readonly string[]): string | undefined {
  const begin = lines.findLastIndex((line, i) => EXCEPTION.test(line) && isTraced(lines, i));
  if (begin < 0) return undefined;
  const rest = lines.slice(begin + 1);
  const end = rest.findIndex((line) => line === "" || !/^\s/.test(line));
  return [lines[begin]!, ...(end < 0 ? rest : rest.slice(0, end)).map((line) => line.trim())].join("\n").trim();
}

/** Above an exception are the frames of its traceback, even if the traceback's first line is cut off. */
function isTraced(lines: readonly string[], index: number): boolean {
  const above = lines[index - 1] ?? "";
  return /^\s/.test(above) || TRACEBACK.test(above);
}

/** As many of the last lines as are reported whole, and at least the end of the last one. */
function lastLines(lines: readonly string[]): string {
  const told = lines.filter((line) => line.trim() !== "");
  let text = (told.at(-1) ?? "").trim();
  if (text.length > LONGEST) return `…${text.slice(1 - LONGEST)}`;
  for (const line of told.slice(0, -1).reverse()) {
    const longer = `${line.trim()}\n${text}`;
    if (longer.length > LONGEST) break;
    text = longer;
  }
  return text;
}
