package suite;

import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Version;

@Group("suite.example.com")
@Version("v1")
public class Beacon extends CustomResource<BeaconSpec, BeaconStatus> implements Namespaced {}
