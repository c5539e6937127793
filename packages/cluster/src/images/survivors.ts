import { type ChildProcess, spawn } from "node:child_process";

/**
 * Ensures that programs do not outlive the process that runs them, however it ends.
 *
 * Flow: a small shell in a separate session reads the running process groups from a pipe. When this process ends, even by
 * SIGKILL, the pipe closes; the shell then kills the remaining groups.
 *
 * Assumptions: a POSIX shell. On Windows nothing survives Ctrl-C or a closed terminal, but a process that is ended by force
 * leaves its children behind.
 */
const SCRIPT = `
groups=""
while read -r sign group; do
  rest=""
  for one in $groups; do [ "$one" = "$group" ] || rest="$rest $one"; done
  groups=$rest
  [ "$sign" = "+" ] && groups="$groups $group"
done
[ -z "$groups" ] && exit 0
for one in $groups; do kill -s TERM -- "-$one" 2>/dev/null; done
sleep 1
for one in $groups; do kill -s KILL -- "-$one" 2>/dev/null; done
`;

let watchdog: ChildProcess | undefined;

/** Registers a process group that must not outlive this process. Returns a function that unregisters it. */
export function endsWithUs(group: number): () => void {
  if (process.platform === "win32") return () => {};
  watchdog ??= startWatchdog();
  const shell = watchdog;
  const send = (sign: "+" | "-") => void shell.stdin?.write(`${sign} ${group}\n`);
  send("+");
  return () => send("-");
}

function startWatchdog(): ChildProcess {
  const shell = spawn("/bin/sh", ["-c", SCRIPT], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  // It must not keep this process running.
  shell.unref();
  (shell.stdin as unknown as { unref(): void }).unref();
  shell.stdin?.on("error", () => {});
  shell.once("error", () => {});
  shell.once("exit", () => {
    if (watchdog === shell) watchdog = undefined;
  });
  return shell;
}
