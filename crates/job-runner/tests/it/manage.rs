//! Runners come into the configuration file, are looked after, and leave it.

use std::{path::PathBuf, process::ExitCode, sync::Arc};

use clap::Parser;
use serde_json::Value;

use crate::server::Server;

#[derive(Parser)]
struct Line {
    #[command(subcommand)]
    command: job_runner::Command,
}

/// A server, and a folder for the configuration file.
struct ServerFixture {
    server: Arc<Server>,
    folder: tempfile::TempDir,
}

impl ServerFixture {
    fn new() -> Self {
        Self { server: Server::start(), folder: tempfile::tempdir().expect("a folder") }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("runner.toml")
    }

    /// Runs a command with `--file`.
    fn run(&self, words: &[&str]) -> anyhow::Result<ExitCode> {
        let file = self.file();
        let file = ["--file", file.to_str().expect("a plain path")];
        let line = ["runner"].iter().chain(&words[..1]).chain(&file).chain(&words[1..]);
        job_runner::run(Line::try_parse_from(line)?.command)
    }

    fn register(&self, name: &str, token: &str, more: &[&str]) -> anyhow::Result<ExitCode> {
        let url = self.server.url();
        let words = ["register", "--url", &url, "--name", name, "--token", token];
        self.run(&[&words, more].concat())
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.file()).unwrap_or_default()
    }

    /// What the server was asked.
    fn requests(&self) -> Vec<String> {
        self.server.lock().management.iter().map(|(call, _)| call.clone()).collect()
    }

    fn body(&self, place: usize) -> Value {
        self.server.lock().management[place].1.clone()
    }
}

#[test]
fn a_runner_that_a_person_made_is_verified_and_written_down() {
    let desk = ServerFixture::new();

    desk.register("a", "glrt-0123456789", &[]).unwrap();

    assert_eq!(desk.requests(), ["POST /runners/verify"]);
    assert_eq!(desk.body(0)["token"], "glrt-0123456789");
    assert!(desk.body(0)["system_id"].as_str().unwrap().starts_with("r_"));
    let text = desk.text();
    assert!(text.contains("name = \"a\"") && text.contains("id = 5"), "{text}");
    assert!(text.contains("token = \"glrt-0123456789\""), "{text}");
}

#[test]
fn a_registration_token_makes_a_runner_with_what_is_said_of_it() {
    let desk = ServerFixture::new();

    let more = ["--tag-list", "a,b", "--locked", "--maximum-timeout", "600"];
    desk.register("a", "GR1348941-x", &more).unwrap();

    assert_eq!(desk.requests(), ["POST /runners"]);
    let body = desk.body(0);
    assert_eq!((&body["tag_list"], &body["run_untagged"]), (&"a,b".into(), &false.into()));
    assert_eq!((&body["locked"], &body["maximum_timeout"]), (&true.into(), &600.into()));
    let text = desk.text();
    assert!(text.contains("token = \"made-by-it\"") && !text.contains("GR1348941"), "{text}");
}

#[test]
fn what_cannot_be_registered_leaves_no_trace() {
    let desk = ServerFixture::new();
    let settings = desk.register("a", "glrt-0123456789", &["--locked"]).unwrap_err().to_string();
    assert!(settings.contains("settings of the server"), "{settings}");
    let image = desk.register("a", "glrt-0123456789", &["--image", "debian"]).unwrap_err();
    assert!(image.to_string().contains("--executor docker"), "{image}");
    assert!(desk.requests().is_empty());

    desk.server.lock().odd_management = Some(403);
    let unknown = desk.register("a", "glrt-0123456789", &[]).unwrap_err().to_string();
    assert!(unknown.contains("does not know this token"), "{unknown}");
    let unknown = desk.register("a", "GR1348941-x", &[]).unwrap_err().to_string();
    assert!(unknown.contains("does not know this registration token"), "{unknown}");
    assert_eq!(desk.text(), "");
}

#[test]
fn a_name_is_given_once() {
    let desk = ServerFixture::new();
    desk.register("a", "glrt-0123456789", &[]).unwrap();
    let taken = desk.register("a", "glrt-abcdefghij", &[]).unwrap_err().to_string();
    assert!(taken.contains("has a runner \"a\" already"), "{taken}");
    desk.register("b", "glrt-abcdefghij", &[]).unwrap();
    assert_eq!(desk.text().matches("[[runners]]").count(), 2);
}

#[test]
fn verifying_fails_where_a_server_does_not_know_a_runner() {
    let desk = ServerFixture::new();
    desk.register("a", "glrt-0123456789", &[]).unwrap();
    assert_eq!(desk.run(&["verify"]).unwrap(), ExitCode::SUCCESS);
    desk.server.lock().odd_management = Some(403);
    assert_eq!(desk.run(&["verify"]).unwrap(), ExitCode::FAILURE);
    assert_eq!(desk.run(&["list"]).unwrap(), ExitCode::SUCCESS, "it asks no server");
}

#[test]
fn a_runner_leaves_its_server_and_the_file() {
    let desk = ServerFixture::new();
    desk.register("a", "glrt-0123456789", &[]).unwrap();
    desk.register("b", "GR1348941-x", &[]).unwrap();

    assert_eq!(desk.run(&["unregister", "--name", "a"]).unwrap(), ExitCode::SUCCESS);
    assert!(!desk.text().contains("\"a\"") && desk.text().contains("\"b\""), "{}", desk.text());
    assert_eq!(desk.run(&["unregister", "--all"]).unwrap(), ExitCode::SUCCESS);

    assert_eq!(desk.requests()[2..], ["DELETE /runners/managers", "DELETE /runners"]);
    assert_eq!(desk.body(3)["token"], "made-by-it");
    assert!(!desk.text().contains("[[runners]]"), "{}", desk.text());
    assert!(desk.run(&["unregister", "--name", "a"]).is_err());
}

#[test]
fn a_runner_that_the_server_keeps_stays_in_the_file() {
    let desk = ServerFixture::new();
    desk.register("a", "glrt-0123456789", &[]).unwrap();
    desk.server.lock().odd_management = Some(412);

    assert_eq!(desk.run(&["unregister", "--name", "a"]).unwrap(), ExitCode::FAILURE);

    assert!(desk.text().contains("name = \"a\""));
}
