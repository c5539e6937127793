import assert from "node:assert/strict";
import { test } from "node:test";
import { refusalOf } from "./refused-variables.ts";

test("variables that decide which code is loaded, or who a program is, are refused with the reason", () => {
  const names =
    "LD_PRELOAD LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES GCONV_PATH PATH Path HOME TMPDIR XDG_CONFIG_HOME NODE_OPTIONS " +
    "node_options NODE_PATH NODE_EXTRA_CA_CERTS NODE_V8_COVERAGE npm_config_script_shell PYTHONPATH PYTHONSTARTUP " +
    "PYTHONHOME PYTHONWARNINGS RUBYOPT PERL5OPT PERL5LIB JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH " +
    "BASH_ENV BASH_FUNC_ls%% ENV SHELLOPTS PS4 IFS GIT_SSH_COMMAND DOTNET_STARTUP_HOOKS OPENSSL_CONF SSL_CERT_FILE " +
    "SSLKEYLOGFILE PAGER KUBECONFIG KONVERGE_SERVICE_ACCOUNT KONVERGE_PORT_80";
  for (const name of names.split(" ")) assert.ok(refusalOf(name), name);
  assert.match(refusalOf("LD_AUDIT")!, /dynamic linker/);
});

test("variables that only the program itself reads are the container's to set", () => {
  const names =
    "LOG_LEVEL POD_NAME NODE_ENV NODE_NAME PYTHONUNBUFFERED PORT LANG TZ ENVIRONMENT DOTNET_ENVIRONMENT HTTP_PROXY " +
    "DATABASE_URL MY_PATH OLD_LD_X KUBERNETES_SERVICE_HOST HOSTNAME";
  for (const name of names.split(" ")) assert.equal(refusalOf(name), undefined, name);
});
