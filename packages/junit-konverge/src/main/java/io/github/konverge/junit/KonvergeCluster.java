package io.github.konverge.junit;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A running cluster: an API server, the built-in controllers, the scheduler and simulated nodes in one process. It ends when it is
 * closed, and with the process that started it, however that ends. It needs the {@code konverge} executable and nothing else.
 */
public final class KonvergeCluster implements AutoCloseable {
  /** Names the executable when it is not in {@code PATH}. */
  public static final String EXECUTABLE_ENV = "KONVERGE_EXECUTABLE";

  private static final Duration START = Duration.ofMinutes(1);
  private static final Duration GRACE = Duration.ofSeconds(15);
  private static final Pattern URL = Pattern.compile("\"url\":\"([^\"\\\\]+)\"");

  private final Process process;
  private final Path folder;
  private final String url;

  private KonvergeCluster(Process process, Path folder, String url) {
    this.process = process;
    this.folder = folder;
    this.url = url;
  }

  /**
   * Starts a cluster with options of {@code konverge up}, and returns when it is ready.
   *
   * @throws IllegalStateException if it does not start, with what it logged
   */
  public static KonvergeCluster start(String... args) {
    return start(executable(System.getenv()), Arrays.asList(args), START);
  }

  static KonvergeCluster start(String executable, List<String> args, Duration timeout) {
    Path folder = folder();
    Process process = null;
    try {
      process = spawn(executable, args, folder);
      return new KonvergeCluster(process, folder, ready(process, folder, timeout));
    } catch (RuntimeException error) {
      if (process != null) end(process);
      remove(folder);
      throw error;
    }
  }

  /** The URL of the API server. */
  public String url() {
    return url;
  }

  /** The file with the administrator's kubeconfig: JSON, which is YAML as well. */
  public Path kubeconfig() {
    return kubeconfig(folder);
  }

  /** The text of {@link #kubeconfig()}, for clients that do not read files. */
  public String kubeconfigText() {
    try {
      return Files.readString(kubeconfig());
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  /** Ends the cluster, and returns when its process is gone and its files are removed. Closing it again does nothing. */
  @Override
  public void close() {
    boolean ended = end(process);
    remove(folder);
    if (!ended) {
      throw new IllegalStateException(
          "the cluster did not end within " + GRACE.toSeconds() + " seconds: its process was killed");
    }
  }

  /** The executable that the variable names, or the first in {@code PATH}. */
  static String executable(Map<String, String> env) {
    String named = env.getOrDefault(EXECUTABLE_ENV, "");
    if (!named.isEmpty()) return named;
    String name = File.separatorChar == '\\' ? "konverge.exe" : "konverge";
    return Arrays.stream(env.getOrDefault("PATH", "").split(Pattern.quote(File.pathSeparator)))
        .filter(path -> !path.isEmpty())
        .map(path -> Path.of(path, name))
        .filter(Files::isExecutable)
        .findFirst()
        .map(Path::toString)
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "no konverge in PATH: install the executable, or name it with $" + EXECUTABLE_ENV));
  }

  private static Process spawn(String executable, List<String> args, Path folder) {
    List<String> command = new ArrayList<>(List.of(executable, "up", "--kubeconfig", kubeconfig(folder).toString()));
    command.addAll(List.of("--until-stdin-closes", "--output", "json"));
    command.addAll(args);
    ProcessBuilder builder = new ProcessBuilder(command).redirectError(log(folder).toFile());
    // Noted in a folder that goes with it: it has nothing to do with clusters of the same name elsewhere.
    builder.environment().put("KONVERGE_HOME", folder.toString());
    try {
      return builder.start();
    } catch (IOException error) {
      throw new IllegalStateException(executable + " cannot be started: " + error.getMessage(), error);
    }
  }

  private static String ready(Process process, Path folder, Duration timeout) {
    CompletableFuture<String> first = new CompletableFuture<>();
    Thread reader = new Thread(() -> read(process, first), "konverge output");
    reader.setDaemon(true);
    reader.start();
    String why;
    try {
      String line = first.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
      Matcher url = URL.matcher(line);
      if (url.find()) return url.group(1);
      why = line.isEmpty() ? "it ended" : "it printed " + line;
    } catch (TimeoutException error) {
      why = "it is not ready after " + timeout.toSeconds() + " s";
    } catch (ExecutionException error) {
      why = error.getCause().toString();
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
      why = "the thread that waited for it was interrupted";
    }
    end(process);
    throw new IllegalStateException("the cluster does not start: " + why + "\n" + logged(folder));
  }

  private static void read(Process process, CompletableFuture<String> first) {
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      String line = lines.readLine();
      first.complete(line == null ? "" : line);
      // A full pipe would stop the cluster: its output is always read.
      while (line != null) line = lines.readLine();
    } catch (IOException error) {
      first.completeExceptionally(error);
    }
  }

  /** Closes its input, which ends it. Returns whether it exited without being killed. */
  private static boolean end(Process process) {
    try {
      process.getOutputStream().close();
    } catch (IOException alreadyEnded) {
      // A process that has ended has no input to close.
    }
    try {
      if (process.waitFor(GRACE.toSeconds(), TimeUnit.SECONDS)) return true;
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
    }
    process.destroyForcibly();
    return false;
  }

  private static Path folder() {
    try {
      // Only this user can read it: the kubeconfig in it is the administrator's.
      return Files.createTempDirectory("konverge-junit-");
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  private static void remove(Path folder) {
    if (!Files.exists(folder)) return;
    try (var files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.deleteIfExists(file);
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  private static String logged(Path folder) {
    try {
      return Files.readString(log(folder)).strip();
    } catch (IOException error) {
      return "its log cannot be read: " + error.getMessage();
    }
  }

  private static Path kubeconfig(Path folder) {
    return folder.resolve("kubeconfig.json");
  }

  private static Path log(Path folder) {
    return folder.resolve("log");
  }
}
