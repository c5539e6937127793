import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DebianImage } from "./debian-image.ts";
import { python } from "./server-images.ts";

export interface PythonImage {
  readonly name: string;
  /** Packages of PyPI with their versions: `ray[default]==2.60.0`. What they depend on is what pip chooses. */
  readonly requirements: readonly string[];
  /** Packages of which only the package is installed: its dependencies are among the requirements, or not used. */
  readonly withoutDependencies?: readonly string[];
  /** Commands on PATH, by name: pip would write the path of this machine's Python into them. */
  readonly commands?: Readonly<Record<string, string>>;
  /** Debian packages besides Python, the library that most wheels need, and the tools of shell scripts. */
  readonly packages?: readonly string[];
  readonly config?: DebianImage["config"];
  readonly finish?: (root: string) => void;
  readonly contents?: readonly string[];
}

/** Packages of PyPI on Debian's Python, from wheels only: nothing of them runs while the image is made. */
export function pythonImage(image: PythonImage): DebianImage {
  const { requirements, withoutDependencies = [], commands = {}, packages = [], config, finish, contents = [] } = image;
  return {
    ...python,
    name: image.name,
    packages: [...python.packages, "libstdc++6", ...packages],
    config: { ...python.config, ...config },
    contents: [...requirements, ...withoutDependencies, JSON.stringify(commands), String(finish), ...contents],
    finish: (root) => {
      const target = join(root, "usr/local/lib/python3.11/dist-packages");
      const wheels = ["--only-binary=:all:", "--python-version", "3.11", "--no-compile", "--target", target];
      const install = (...packages: readonly string[]) =>
        execFileSync("python3", ["-m", "pip", "install", "--quiet", "--no-input", ...wheels, ...packages], {
          stdio: ["ignore", "ignore", "inherit"],
        });
      install(...requirements);
      if (withoutDependencies.length > 0) install("--no-deps", ...withoutDependencies);
      mkdirSync(join(root, "usr/local/bin"), { recursive: true });
      for (const [command, script] of Object.entries(commands)) {
        const file = join(root, "usr/local/bin", command);
        writeFileSync(file, `#!/bin/sh\n${script}\n`);
        chmodSync(file, 0o755);
      }
      // Containers cannot keep what they compile, and files of a layer have no time to compare. Templates do not compile.
      const compile = ["python3", "-m", "compileall", "-q", "-q", "--invalidation-mode", "unchecked-hash"];
      spawnSync("chroot", [root, ...compile, "/usr/lib/python3.11", "/usr/local/lib/python3.11"]);
      finish?.(root);
    },
  };
}
