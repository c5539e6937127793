// `npm run workflows`: checks .github/workflows with actionlint, built from the Go module proxy. Skipped without Go.
import { spawnSync } from "node:child_process";

const ACTIONLINT = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.8";

if (spawnSync("go", ["version"]).status !== 0) {
  console.log("actionlint is built with Go, which is not installed\n0 passed, 0 failed, 1 skipped");
} else {
  const { status } = spawnSync("go", ["run", ACTIONLINT], { stdio: "inherit" });
  console.log(status === 0 ? "1 passed, 0 failed, 0 skipped" : "0 passed, 1 failed, 0 skipped");
  process.exitCode = status ?? 1;
}
