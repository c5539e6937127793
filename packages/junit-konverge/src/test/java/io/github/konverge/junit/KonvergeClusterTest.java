package io.github.konverge.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KonvergeClusterTest {
  @Test
  void aClusterListensUntilItIsClosedAndLeavesNoFiles() {
    KonvergeCluster cluster = KonvergeCluster.start("--nodes", "1", "--gpus", "none");
    assertTrue(listens(cluster.url()));
    assertTrue(cluster.kubeconfigText().contains(cluster.url()));
    cluster.close();
    cluster.close();
    assertFalse(listens(cluster.url()));
    assertFalse(Files.exists(cluster.kubeconfig().getParent()));
  }

  @Test
  void aClusterThatDoesNotStartSaysWhy(@TempDir Path empty) {
    var refused = assertThrows(IllegalStateException.class, () -> KonvergeCluster.start("--nodes", "many"));
    assertTrue(refused.getMessage().contains("it must be a whole number"), refused.getMessage());
    var absent = "/nowhere/konverge";
    var notStarted =
        assertThrows(
            IllegalStateException.class, () -> KonvergeCluster.start(absent, List.of(), Duration.ofMinutes(1)));
    assertTrue(notStarted.getMessage().startsWith("/nowhere/konverge cannot be started: "), notStarted.getMessage());
    var missing =
        assertThrows(
            IllegalStateException.class, () -> KonvergeCluster.executable(Map.of("PATH", empty.toString())));
    assertTrue(missing.getMessage().contains("no konverge in PATH"), missing.getMessage());
  }

  @Test
  void aClusterEndsWithTheProcessThatStartedIt() throws Exception {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    String classes = System.getProperty("java.class.path");
    Process process =
        new ProcessBuilder(java, "-cp", classes, Halting.class.getName())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String url;
    try (BufferedReader lines = process.inputReader()) {
      url = lines.readLine();
    }
    assertEquals(1, process.waitFor());
    Instant end = Instant.now().plusSeconds(30);
    while (listens(url)) {
      assertTrue(Instant.now().isBefore(end), "the cluster is still there");
      Thread.sleep(50);
    }
  }

  /** Starts a cluster and ends at once, without closing it. */
  static final class Halting {
    public static void main(String[] args) {
      System.out.println(KonvergeCluster.start().url());
      System.out.flush();
      Runtime.getRuntime().halt(1);
    }
  }

  private static boolean listens(String url) {
    URI address = URI.create(url);
    try (Socket socket = new Socket(address.getHost(), address.getPort())) {
      return socket.isConnected();
    } catch (IOException refused) {
      return false;
    }
  }
}
