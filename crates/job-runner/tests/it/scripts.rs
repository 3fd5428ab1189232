//! Commands of jobs: what they see, and what becomes of the job.

use serde_json::json;

use crate::support::{Bench, JobExt as _, job};

#[test]
fn a_job_runs_its_script_and_what_comes_after() {
    let bench = Bench::new();
    let (end, log) = bench.run(job(&["echo one", "pwd"]).after(&["echo after $CI_JOB_STATUS"]));
    assert_eq!(end["state"], "success");
    assert!(log.contains("\x1b[32;1m$ echo one\x1b[0;m\none\n"), "{log}");
    assert!(log.contains("/0/group/project\n") && log.contains("\nafter success\n"), "{log}");
    assert!(
        log.contains(":step_script\r\x1b[0K") && log.contains(":after_script\r\x1b[0K"),
        "{log}"
    );
    assert!(log.ends_with("Job succeeded\x1b[0;m\n"), "{log}");
    assert_eq!(end["output"]["bytesize"], log.len());
}

#[test]
fn a_failing_script_gives_its_exit_code_and_still_runs_what_comes_after() {
    let bench = Bench::new();
    let (end, log) =
        bench.run(job(&["(exit 7)", "echo never"]).after(&["echo after $CI_JOB_STATUS"]));
    assert_eq!(
        (&end["state"], &end["failure_reason"]),
        (&json!("failed"), &json!("script_failure"))
    );
    assert_eq!(end["exit_code"], 7);
    assert!(!log.contains("\nnever\n") && log.contains("\nafter failed\n"), "{log}");
    assert!(log.contains("ERROR: Job failed: exit code 7"), "{log}");
}

#[test]
fn what_comes_after_cannot_fail_a_job() {
    let (end, log) = Bench::new().run(job(&["true"]).after(&["false"]));
    assert_eq!(end["state"], "success");
    assert!(log.contains("after_script failed, but job will continue"), "{log}");
}

#[test]
fn a_job_whose_time_is_up_fails() {
    let limit = json!({ "key": "RUNNER_SCRIPT_TIMEOUT", "value": "0s" });
    let (end, log) = Bench::new().run(job(&["sleep 1000"]).variable(limit).after(&["echo tidied"]));
    assert_eq!(end["failure_reason"], "job_execution_timeout");
    assert!(log.contains("took too long") && log.contains("\ntidied\n"), "{log}");
}

#[test]
fn masked_values_and_the_token_are_not_in_the_log() {
    let masked = json!({ "key": "SECRET", "value": "hunter2-hunter2", "masked": true });
    let token = json!({ "key": "CI_JOB_TOKEN", "value": "glcbt-job-token", "masked": true });
    let lines = ["echo \"<$SECRET>\" \"<$CI_JOB_TOKEN>\"", "printf hunter2-; printf hunter2"];
    let (end, log) = Bench::new().run(job(&lines).variable(masked).variable(token));
    assert_eq!(end["state"], "success");
    assert!(log.contains("<[MASKED]> <[MASKED]>\n"), "{log}");
    assert!(!log.contains("hunter2-hunter2") && !log.contains("glcbt-job-token"), "{log}");
}

#[test]
fn a_file_variable_is_a_file_while_the_job_runs() {
    let bench = Bench::new();
    let file = json!({ "key": "KEY_FILE", "value": "line 1\nline 2", "file": true });
    let (_, log) =
        bench.run(job(&["cat \"$KEY_FILE\"", "echo; echo \"at $KEY_FILE\""]).variable(file));
    assert!(log.contains("line 1\nline 2"), "{log}");
    let path = log.split("\nat ").nth(1).unwrap().lines().next().unwrap();
    assert!(path.ends_with("/group/project.tmp/KEY_FILE"), "{path}");
    assert!(!std::path::Path::new(path).exists());
}

#[test]
fn a_job_does_not_see_this_programs_environment() {
    let (_, log) = Bench::new().run(job(&["env"]));
    assert!(log.contains("PATH=") && log.contains("CI_PROJECT_DIR="), "{log}");
    assert!(!log.contains("CARGO_MANIFEST_DIR"), "{log}");
}

#[test]
fn services_are_refused_by_the_shell_executor() {
    let services = json!([{ "name": "postgres:16", "alias": "db" }]);
    let (end, log) = Bench::new().run(job(&["echo never"]).set("services", services));
    // The server does not know `configuration_error`.
    assert_eq!(
        (&end["state"], &end["failure_reason"]),
        (&json!("failed"), &json!("script_failure"))
    );
    assert!(
        log.contains("which the shell executor cannot run") && !log.contains("\nnever\n"),
        "{log}"
    );
}

#[test]
fn a_job_that_cannot_be_read_fails_at_once() {
    let bench = Bench::new();
    bench.give(job(&[]).set("variables", json!("none")));
    let (end, log) = bench.server.end();
    assert_eq!(end["failure_reason"], "runner_system_failure");
    assert!(log.contains("cannot read the job"), "{log}");
}
