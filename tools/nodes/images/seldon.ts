import { chmodSync, chownSync, copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { DebianImage } from "./debian-image.ts";
import { pythonImage } from "./python-packages.ts";
import { python, SHELL_TOOLS, SYSTEM_PATH } from "./server-images.ts";

const program = (name: string) => join(import.meta.dirname, "../programs", name);

/** MLServer 1.3 with what it was released with: it does not run with today's versions of these. */
const MLSERVER = ["mlserver==1.3.5", "uvloop==0.17.0", "uvicorn==0.23.2", "protobuf==4.25.9"];
const SKLEARN = ["scikit-learn==1.3.2", "numpy==1.26.4", "pandas==2.1.4"];
const COMMANDS = { mlserver: `exec python3 -c 'from mlserver.cli import main; main()' "$@"` };
const MLSERVER_CONFIG = {
  User: "1000",
  Env: [...python.config.Env!, "MLSERVER_MODELS_DIR=/mnt/models", "HOME=/tmp"],
  Cmd: ["mlserver", "start", "/mnt/models"],
  WorkingDir: "/opt/mlserver",
};
/** As in the official image: MLServer writes to its folder, under any user of the group 0. */
const addWorkingFolder = (root: string) => {
  const folder = join(root, "opt/mlserver");
  mkdirSync(folder, { recursive: true });
  chownSync(folder, 1000, 0);
  chmodSync(folder, 0o775);
};

/** MLServer from PyPI with its runtime for scikit-learn, under the name of the operator's default. */
export const mlserver = pythonImage({
  name: "docker.io/seldonio/mlserver:1.3.5-sklearn",
  requirements: [...MLSERVER, "mlserver-sklearn==1.3.5", ...SKLEARN],
  commands: COMMANDS,
  config: MLSERVER_CONFIG,
  finish: addWorkingFolder,
});

/** MLServer with Alibi. TensorFlow, which its runtime depends on, is left out: the explainers of tables do not use it. */
export const alibiExplainer = pythonImage({
  name: "docker.io/seldonio/mlserver:1.3.5-alibi-explain",
  requirements: [...MLSERVER, "alibi==0.9.4", ...SKLEARN],
  withoutDependencies: ["mlserver-alibi-explain==1.3.5"],
  commands: COMMANDS,
  config: MLSERVER_CONFIG,
  finish: addWorkingFolder,
});

/** Seldon's own wrapper with a server for scikit-learn in place of upstream's, which is not on PyPI. */
export const sklearnServer = pythonImage({
  name: "docker.io/seldonio/sklearnserver:1.18.2",
  requirements: [
    ...["flask==2.2.5", "werkzeug==2.2.3", "flask-cors==3.0.10", "jsonschema==3.2.0", "gunicorn==20.1.0"],
    ...["protobuf==3.20.3", "grpcio==1.59.5", "prometheus-client==0.8.0", "pyyaml==6.0.1", "click==8.0.4"],
    ...["requests==2.31.0", "urllib3==1.26.20", "setuptools==68.2.2", ...SKLEARN],
  ],
  // It also depends on tracers that have no wheels, and are loaded only if requests are traced.
  withoutDependencies: ["seldon-core==1.18.2", "grpcio-reflection==1.48.2"],
  packages: ["python3-distutils"],
  commands: {
    "seldon-core-microservice": `exec python3 -c 'from seldon_core.microservice import main; main()' "$@"`,
  },
  config: {
    User: "8888",
    Env: [...python.config.Env!, "PYTHONPATH=/microservice", "HOME=/tmp"],
    Cmd: ["seldon-core-microservice", "SKLearnServer", "--service-type", "MODEL"],
    WorkingDir: "/microservice",
  },
  contents: [readFileSync(program("sklearn_server.py"), "utf8")],
  finish: (root) => {
    mkdirSync(join(root, "microservice"));
    copyFileSync(program("sklearn_server.py"), join(root, "microservice/SKLearnServer.py"));
  },
});

/** Debian's rclone, started as upstream's image starts it. */
export const rclone: DebianImage = {
  name: "docker.io/seldonio/rclone-storage-initializer:1.18.2",
  packages: ["rclone", ...SHELL_TOOLS],
  config: {
    User: "8888",
    Env: [`PATH=${SYSTEM_PATH}`, "RCLONE_VERBOSE=1", "HOME=/tmp"],
    Entrypoint: ["rclone", "copy"],
  },
};

/** A small program in place of upstream's orchestrator, which is written in Go and not in the module proxy. */
export const orchestrator: DebianImage = {
  ...python,
  name: "docker.io/seldonio/seldon-core-executor:1.18.2",
  config: { ...python.config, User: "8888", Entrypoint: ["python3", "/orchestrate.py"], Cmd: [] },
  contents: [readFileSync(program("orchestrate.py"), "utf8")],
  finish: (root) => copyFileSync(program("orchestrate.py"), join(root, "orchestrate.py")),
};

/** Debian's HAProxy. */
export const haproxy: DebianImage = {
  name: "docker.io/library/haproxy:2.6",
  packages: ["haproxy", ...SHELL_TOOLS],
  config: { User: "99", Env: [`PATH=${SYSTEM_PATH}`], Cmd: ["haproxy", "-f", "/usr/local/etc/haproxy/haproxy.cfg"] },
};
