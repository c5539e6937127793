/**
 * Variables that a container cannot set for a process of this machine.
 *
 * The person who runs the cluster decides which program an image is; the creator of a pod decides what is in its
 * environment. In a real container that is no danger, as the image's files are all that a variable can point to. Here the
 * program has the files and the user of this machine, so a variable that changes which code is loaded, which files are
 * trusted or which identity is used would turn the permission to create pods into one to run code on this machine.
 *
 * What is refused is left out, and a Warning event of the pod names it. Names are compared without case, as Windows does.
 */
interface Refusal {
  /** What such a variable would change. */
  readonly why: string;
  readonly names: RegExp;
}

const REFUSALS: readonly Refusal[] = [
  {
    why: "the dynamic linker and the C library load what it names",
    names: /^(LD_.*|DYLD_.*|GCONV_PATH|LOCPATH|NLSPATH|GLIBC_TUNABLES|HOSTALIASES|RES_OPTIONS|LOCALDOMAIN)$/,
  },
  {
    why: "programs are found by it",
    names: /^(PATH|PATHEXT|COMSPEC|SHELL|SYSTEMROOT|WINDIR)$/,
  },
  {
    why: "configuration, credentials and temporary files of this machine are found by it",
    names: /^(HOME|USERPROFILE|APPDATA|LOCALAPPDATA|XDG_.*|TMPDIR|TMP|TEMP)$/,
  },
  {
    why: "shells run it, or read commands and words by it",
    names: /^(ENV|BASH_.*|BASHOPTS|SHELLOPTS|PS4|IFS|CDPATH|GLOBIGNORE|PROMPT_COMMAND|ZDOTDIR|FPATH)$/,
  },
  {
    // NODE_ENV, NODE_NAME and the like are names that programs choose for themselves.
    why: "Node.js loads code or certificates by it, or writes files",
    names:
      /^(NODE_(OPTIONS|PATH|EXTRA_CA_CERTS|TLS_REJECT_UNAUTHORIZED|REPL_.*|COMPILE_CACHE.*|V8_COVERAGE|REDIRECT_WARNINGS|ICU_DATA|PRESERVE_SYMLINKS.*|CHANNEL_.*|USE_.*|SKIP_PLATFORM_CHECK)|NPM_CONFIG_.*|ELECTRON_RUN_AS_NODE|DENO_.*|BUN_.*)$/,
  },
  {
    why: "Python loads code by it",
    // Whether output is buffered, and how text is encoded, is theirs to say.
    names: /^PYTHON(?!(UNBUFFERED|DONTWRITEBYTECODE|HASHSEED|IOENCODING|UTF8)$).*$/,
  },
  { why: "Ruby loads code by it", names: /^(RUBYOPT|RUBYLIB|RUBYSHELL|GEM_.*|BUNDLE_.*)$/ },
  { why: "Perl loads code by it", names: /^PERL(5OPT|5LIB|LIB|5DB|5SHELL|_.*)$/ },
  { why: "PHP and Lua load code by it", names: /^(PHPRC|PHP_INI_SCAN_DIR|LUA_(INIT|PATH|CPATH).*)$/ },
  {
    why: "the Java virtual machine takes options and classes from it",
    names: /^(JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|JDK_JAVAC_OPTIONS|JAVA_OPTS|JAVA_HOME|CLASSPATH)$/,
  },
  {
    why: ".NET and Erlang load code by it",
    names:
      /^(DOTNET_(?!(ENVIRONMENT|RUNNING_IN_CONTAINER)$).*|CORECLR_.*|COR_.*|COMPLUS_.*|ERL_.*|ELIXIR_ERL_OPTIONS)$/,
  },
  { why: "Git runs programs by it", names: /^GIT_.*$/ },
  {
    why: "other programs are started by it",
    names:
      /^(EDITOR|VISUAL|PAGER|MANPAGER|BROWSER|LESSOPEN|LESSCLOSE|SSH_.*|SUDO_.*|AWS_(CONFIG|SHARED_CREDENTIALS)_FILE)$/,
  },
  {
    why: "OpenSSL loads modules or certificates by it, or writes keys",
    names: /^(OPENSSL_.*|SSL_CERT_FILE|SSL_CERT_DIR|SSLKEYLOGFILE)$/,
  },
  { why: "it defines the identity of the pod and where its files are", names: /^(KUBECONFIG|KONVERGE_.*)$/ },
];

/** Why a container cannot set a variable. Undefined: it can. */
export function refusalOf(name: string): string | undefined {
  return REFUSALS.find(({ names }) => names.test(name.toUpperCase()))?.why;
}
