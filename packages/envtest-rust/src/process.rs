//! The process of a cluster, from its start to its end.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::Error;

const GRACE: Duration = Duration::from_secs(15);

#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    /// The line that says that the cluster is ready; it is disconnected when the process has closed its output.
    lines: Receiver<String>,
    log: PathBuf,
}

/// The executable that `$KONVERGE_EXECUTABLE` names, or the first in `PATH`.
pub(crate) fn executable() -> Result<PathBuf, Error> {
    if let Some(path) = env::var_os(crate::EXECUTABLE_ENV).filter(|path| !path.is_empty()) {
        return Ok(path.into());
    }
    let name = format!("konverge{}", env::consts::EXE_SUFFIX);
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).map(|folder| folder.join(&name)).find(|file| file.is_file()).ok_or(Error::NoExecutable)
}

impl Process {
    pub(crate) fn spawn(executable: &Path, args: &[OsString], kubeconfig: &Path, folder: &Path) -> Result<Self, Error> {
        let log = folder.join("log");
        let errors = File::create(&log).map_err(Error::Folder)?;
        let mut child = Command::new(executable)
            .arg("up")
            .arg("--kubeconfig")
            .arg(kubeconfig)
            .args(["--until-stdin-closes", "--output", "json"])
            .args(args)
            // Noted in a folder that goes with it: it has nothing to do with clusters of the same name elsewhere.
            .env("KONVERGE_HOME", folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn()
            .map_err(|cause| Error::NotStarted { executable: executable.into(), cause })?;
        let stdout = child.stdout.take().expect("stdout is piped");
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            let mut line = String::new();
            if reader.read_line(&mut line).is_ok_and(|read| read > 0) {
                let _ = sender.send(line);
            }
            // A full pipe would stop the cluster: its output is always read.
            let _ = io::copy(&mut reader, &mut io::sink());
        });
        Ok(Self { child, lines, log })
    }

    /// Waits until the cluster is ready, and returns its URL.
    pub(crate) fn ready(&mut self, timeout: Duration) -> Result<String, Error> {
        let why = match self.lines.recv_timeout(timeout) {
            Ok(line) => match url(&line) {
                Some(url) => return Ok(url),
                None => format!("it printed {line:?}"),
            },
            Err(RecvTimeoutError::Timeout) => format!("it is not ready after {} s", timeout.as_secs()),
            Err(RecvTimeoutError::Disconnected) => "it ended".into(),
        };
        self.kill();
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        Err(Error::NotReady { why, log: log.trim().into() })
    }

    /// Ends the process, and returns when it is gone. Stopping it again does nothing.
    pub(crate) fn stop(&mut self) -> Result<(), Error> {
        if self.child.stdin.take().is_none() {
            return Ok(());
        }
        // It closes its output when it ends.
        match self.lines.recv_timeout(GRACE) {
            Err(RecvTimeoutError::Timeout) => {
                self.kill();
                Err(Error::NotEnded(GRACE))
            }
            _ => self.child.wait().map(|_| ()).map_err(Error::Folder),
        }
    }

    fn kill(&mut self) {
        self.child.stdin.take();
        // An error says that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}

fn url(line: &str) -> Option<String> {
    let ready: serde_json::Value = serde_json::from_str(line).ok()?;
    Some(ready.get("url")?.as_str()?.to_owned())
}
