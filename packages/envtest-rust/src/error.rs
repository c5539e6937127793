use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why a cluster did not start or did not end.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// There is no executable.
    NoExecutable,
    /// The executable cannot be run.
    NotStarted {
        /// The executable.
        executable: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
    /// The process ended, or was not ready in time.
    NotReady {
        /// Which of the two.
        why: String,
        /// What the process has logged.
        log: String,
    },
    /// The process had to be killed.
    NotEnded(Duration),
    /// The folder of the kubeconfig and the log cannot be made, read or removed.
    Folder(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoExecutable => write!(
                f,
                "no konverge in PATH: install the executable, or name it with ${}",
                crate::EXECUTABLE_ENV
            ),
            Self::NotStarted { executable, cause } => write!(f, "{} cannot be started: {cause}", executable.display()),
            Self::NotReady { why, log } => write!(f, "the cluster does not start: {why}\n{log}"),
            Self::NotEnded(after) => {
                write!(f, "the cluster did not end within {} seconds: its process was killed", after.as_secs())
            }
            Self::Folder(cause) => write!(f, "the folder of the cluster: {cause}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NotStarted { cause, .. } | Self::Folder(cause) => Some(cause),
            _ => None,
        }
    }
}
