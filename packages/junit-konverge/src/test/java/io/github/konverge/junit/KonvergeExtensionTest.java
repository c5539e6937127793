package io.github.konverge.junit;

import static org.junit.jupiter.api.Assertions.assertSame;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class KonvergeExtensionTest {
  @RegisterExtension
  static final KonvergeExtension konverge = new KonvergeExtension("--nodes", "1", "--gpus", "none");

  @Test
  void aParameterIsTheClusterOfTheExtension(KonvergeCluster cluster) {
    assertSame(konverge.cluster(), cluster);
  }

  @Nested
  class InAnotherClass {
    @RegisterExtension
    static final KonvergeExtension other = new KonvergeExtension("--nodes", "1", "--gpus", "none");

    @Test
    void theSameOptionsAreTheSameCluster() {
      assertSame(konverge.cluster(), other.cluster());
    }
  }
}
