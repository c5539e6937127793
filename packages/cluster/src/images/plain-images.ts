/** Images that hold a shell and its commands, and nothing else: all that runs in them is known. */
const PLAIN = /(^|\/)(busybox|alpine|bash|debian|ubuntu)(:|@|$)/;
/** The image that waits for its end and does nothing else. */
const PAUSE = /(^|\/)pause(:|@|$)/;

/** Whether an image holds a shell and its commands, and nothing else. */
export function isPlainImage(reference = ""): boolean {
  return PLAIN.test(reference);
}

/** Whether an image only waits for its end. */
export function isPauseImage(reference = ""): boolean {
  return PAUSE.test(reference);
}
