//! Jobs that come to another end.

use serde_json::json;

use super::{Pipe, RunnerFixture};

#[actix_web::test]
async fn a_failing_command_fails_the_job_with_its_exit_code() {
    let shop = RunnerFixture::open().await;
    let text = "job:\n  script: ['echo before', 'exit 42', 'echo never']\n  after_script: ['echo after $CI_JOB_STATUS']\n  \
                allow_failure: {exit_codes: [42]}\n";

    assert_eq!(shop.run(text, 1).await, "success");

    let (job, log) = (shop.job("job").await, shop.log("job").await);
    assert_eq!(
        (&job["status"], &job["failure_reason"]),
        (&json!("failed"), &json!("script_failure"))
    );
    assert!(log.contains("\nbefore\n") && !log.contains("\nnever\n"), "{log}");
    assert!(log.contains("\nafter failed\n") && log.contains("Job failed: exit code 42"), "{log}");
}

#[actix_web::test]
async fn a_cancelled_job_ends_with_all_that_it_has_started() {
    let shop = RunnerFixture::open().await;
    let pipe = Pipe::new(shop.folder.path());
    let script = format!("exec 3> {}; echo started >&3; sleep 1000 & sleep 1000", pipe.path());
    shop.push(&format!("job:\n  script: '{script}'\n")).await;
    let (line, heard) = pipe.hear().await;
    assert_eq!(line, "started");

    let path = format!("{}/cancel", shop.path_of(&shop.job("job").await));
    shop.olga().post(&path, json!({})).await.created();

    assert_eq!(heard.rest().await, "");
    shop.ended(1).await;
    assert_eq!(
        (shop.job("job").await["status"].as_str(), shop.status().await.as_str()),
        (Some("canceled"), "canceled")
    );
}

#[actix_web::test]
async fn a_job_ends_when_its_time_is_up() {
    let shop = RunnerFixture::open().await;

    let text = "job:\n  script: sleep 1000\n  after_script: ['echo after']\n  timeout: 5 seconds\n";
    assert_eq!(shop.run(text, 1).await, "failed");

    let (job, log) = (shop.job("job").await, shop.log("job").await);
    assert_eq!(job["failure_reason"], "job_execution_timeout");
    assert!(log.contains("\nafter\n") && log.contains("longer than 5 seconds"), "{log}");
}

#[actix_web::test]
async fn the_shell_says_that_it_has_no_services() {
    let shop = RunnerFixture::open().await;

    assert_eq!(shop.run("job: {script: echo never, services: [redis]}\n", 1).await, "failed");

    let log = shop.log("job").await;
    assert!(log.contains("`services`, which the shell executor cannot run"), "{log}");
    assert!(!log.contains("\nnever\n"), "{log}");
}
