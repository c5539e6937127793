//! Starts an embedded Kubernetes cluster for tests: an API server, the built-in controllers, the scheduler and simulated nodes
//! in one process, ready in about a second. It needs the `konverge` executable and nothing else.
//!
//! ```no_run
//! # async fn test() -> Result<(), Box<dyn std::error::Error>> {
//! let cluster = konverge_envtest::start()?;
//! // let kubeconfig = kube::config::Kubeconfig::read_from(cluster.kubeconfig())?;
//! # Ok(())
//! # }
//! ```
//!
//! A cluster ends when its [`Cluster`] is dropped, and with the process that started it, however that ends.

mod error;
mod process;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use error::Error;
use process::Process;
use tempfile::TempDir;

/// Names the executable when it is not in `PATH`.
pub const EXECUTABLE_ENV: &str = "KONVERGE_EXECUTABLE";

/// Starts a cluster with the defaults of `konverge up`, and returns when it is ready. It blocks the thread until then.
pub fn start() -> Result<Cluster, Error> {
    Options::new().start()
}

/// How a cluster is started.
#[derive(Clone, Debug)]
#[must_use = "options start nothing: call start()"]
pub struct Options {
    executable: Option<PathBuf>,
    args: Vec<OsString>,
    timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

impl Options {
    /// The defaults of `konverge up`.
    pub fn new() -> Self {
        Self { executable: None, args: Vec::new(), timeout: Duration::from_secs(60) }
    }

    /// Adds options of `konverge up`, such as `["--nodes", "1"]`.
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Names the executable. Default: `$KONVERGE_EXECUTABLE`, or `konverge` in `PATH`.
    pub fn executable(mut self, path: impl Into<PathBuf>) -> Self {
        self.executable = Some(path.into());
        self
    }

    /// How long the start may take. Default: a minute.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Starts a cluster, and returns when it is ready. It blocks the thread until then.
    pub fn start(self) -> Result<Cluster, Error> {
        let executable = match self.executable {
            Some(path) => path,
            None => process::executable()?,
        };
        // Only this user can read the folder: the kubeconfig in it is the administrator's.
        let folder = tempfile::Builder::new().prefix("konverge-rust-").tempdir().map_err(Error::Folder)?;
        let kubeconfig = folder.path().join("kubeconfig.json");
        let mut process = Process::spawn(&executable, &self.args, &kubeconfig, folder.path())?;
        let url = process.ready(self.timeout)?;
        Ok(Cluster { url, kubeconfig, process, folder })
    }
}

/// A running cluster. It ends when this is dropped.
#[derive(Debug)]
pub struct Cluster {
    url: String,
    kubeconfig: PathBuf,
    process: Process,
    folder: TempDir,
}

impl Cluster {
    /// The URL of the API server.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The file with the administrator's kubeconfig: JSON, which is YAML as well.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Ends the cluster, and returns when its process is gone and its files are removed. Dropping it does the same, without errors.
    pub fn stop(mut self) -> Result<(), Error> {
        self.process.stop()?;
        self.folder.close().map_err(Error::Folder)
    }
}
