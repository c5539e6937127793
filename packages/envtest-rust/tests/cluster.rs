//! What the crate promises of a cluster's life, seen from outside.

use std::env;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::process::{self, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use konverge_envtest::{Error, Options, start};

fn address(url: &str) -> &str {
    url.trim().trim_start_matches("https://")
}

#[test]
fn a_cluster_listens_until_it_is_stopped_and_leaves_no_files() {
    let cluster = Options::new().args(["--nodes", "1", "--gpus", "none"]).start().unwrap();
    let (url, kubeconfig) = (cluster.url().to_owned(), cluster.kubeconfig().to_owned());
    TcpStream::connect(address(&url)).unwrap();
    let text = std::fs::read_to_string(&kubeconfig).unwrap();
    assert!(text.contains(&url), "{text}");
    cluster.stop().unwrap();
    assert!(TcpStream::connect(address(&url)).is_err());
    assert!(!kubeconfig.parent().unwrap().exists());
}

#[test]
fn a_cluster_that_does_not_start_says_why() {
    let error = Options::new().args(["--nodes", "many"]).start().unwrap_err();
    assert!(error.to_string().contains("it must be a whole number"), "{error}");
    let error = Options::new().executable("/nowhere/konverge").start().unwrap_err();
    assert!(matches!(error, Error::NotStarted { .. }));
    assert!(error.to_string().starts_with("/nowhere/konverge cannot be started: "), "{error}");
}

#[test]
fn a_process_that_ends_at_once_ends_its_cluster() {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "starts_a_cluster_and_aborts", "--ignored", "--nocapture"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let url = lines.into_iter().find_map(|line| line.find("https://").map(|at| line[at..].to_owned())).unwrap();
    assert!(!child.wait().unwrap().success());
    let begun = Instant::now();
    while TcpStream::connect(address(&url)).is_ok() {
        assert!(begun.elapsed() < Duration::from_secs(30), "the cluster is still there");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
#[ignore = "it ends its process: a_process_that_ends_at_once_ends_its_cluster runs it in another"]
fn starts_a_cluster_and_aborts() {
    let cluster = start().unwrap();
    println!("{}", cluster.url());
    process::abort();
}

#[test]
fn without_an_executable_the_error_names_the_variable() {
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", "starts_without_an_executable", "--ignored"]).env_remove("KONVERGE_EXECUTABLE").env("PATH", "");
    let output = child.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
#[ignore = "without_an_executable_the_error_names_the_variable runs it in a process without PATH"]
fn starts_without_an_executable() {
    let error = start().unwrap_err();
    assert!(matches!(error, Error::NoExecutable));
    assert!(error.to_string().contains("no konverge in PATH"));
    assert!(error.to_string().contains("$KONVERGE_EXECUTABLE"));
}
