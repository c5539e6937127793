package suite;

/** How many of them burn. */
public class BeaconStatus {
  private int burning;

  public int getBurning() {
    return burning;
  }

  public void setBurning(int burning) {
    this.burning = burning;
  }
}
