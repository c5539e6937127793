package suite;

/** A number of lamps. */
public class BeaconSpec {
  private int lamps;

  public int getLamps() {
    return lamps;
  }

  public void setLamps(int lamps) {
    this.lamps = lamps;
  }
}
