/** Images with only a shell and its commands: everything that runs in them is known. */
const PLAIN = /(^|\/)(busybox|alpine|bash|debian|ubuntu)(:|@|$)/;
/** The image that only waits to be stopped. */
const PAUSE = /(^|\/)pause(:|@|$)/;

/** Whether an image has only a shell and its commands. */
export function isPlainImage(reference = ""): boolean {
  return PLAIN.test(reference);
}

/** Whether an image only waits for its end. */
export function isPauseImage(reference = ""): boolean {
  return PAUSE.test(reference);
}
